-- Providers visible from a room (its own and @global), or all, newest first.
create function pgjobs.list_providers(
  room text default null, page_size integer default 50, page_offset integer default 0
)
returns setof pgjobs.providers
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  perform pgjobs._check_page(list_providers.page_size, list_providers.page_offset);
  if list_providers.room is not null then
    perform pgjobs._look_into(list_providers.room);
  end if;
  return query
  select p.*
  from pgjobs.providers as p
  where case
    when list_providers.room is not null then p.room in (list_providers.room, '@global')
    else v_rooms is null or p.room = any (v_rooms)
  end
  order by p.created_at desc, p.id
  limit list_providers.page_size offset list_providers.page_offset;
end
$$;

comment on function pgjobs.list_providers is
  'Providers visible from a room. Example: select full_name, content_type from pgjobs.list_providers(''lab-7'')';
