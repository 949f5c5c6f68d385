-- list_providers(room text = null, page_size integer = 50, page_offset integer = 0)
--
-- Providers visible from a room (its own and @global), or all, newest first.
select :page_offset as v_page_offset;
-- include check_page
select p.*
from providers as p
where :room is null or p.room in (:room, '@global')
order by p.created_at desc, p.id
limit :page_size offset :page_offset;
