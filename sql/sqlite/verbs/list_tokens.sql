-- list_tokens(of_user text = null, page_size integer = 50, page_offset integer = 0)
--
-- Tokens without what is secret about them, newest first.
select :page_offset as v_page_offset;
-- include check_page
select t.id, t.user_id, t.name, t.is_superuser, t.created_at, t.expires_at, t.revoked_at, null as rooms
from api_tokens as t
where :of_user is null or t.user_id = :of_user
order by t.created_at desc, t.id
limit :page_size offset :page_offset;
