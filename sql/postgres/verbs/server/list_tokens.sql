-- Tokens without what is secret about them, newest first.
create function pgjobs.list_tokens(of_user text default null, page_size integer default 50, page_offset integer default 0)
returns table (
  id uuid,
  user_id text,
  name text,
  is_superuser boolean,
  created_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  rooms text[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  perform pgjobs._check_page(list_tokens.page_size, list_tokens.page_offset);
  return query
  select t.id, t.user_id, t.name, t.is_superuser, t.created_at, t.expires_at, t.revoked_at, t.rooms
  from pgjobs.api_tokens as t
  where list_tokens.of_user is null or t.user_id = list_tokens.of_user
  order by t.created_at desc, t.id
  limit list_tokens.page_size offset list_tokens.page_offset;
end
$$;

comment on function pgjobs.list_tokens is 'API tokens. Example: select id, user_id, name from pgjobs.list_tokens()';
