-- How many providers list_providers would list.
create function pgjobs.count_providers(room text default null)
returns table (total integer, relation text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if count_providers.room is not null then
    perform pgjobs._look_into(count_providers.room);
  end if;
  return query
  select count(*)::integer, 'eq'
  from pgjobs.providers as p
  where case
    when count_providers.room is not null then p.room in (count_providers.room, '@global')
    else v_rooms is null or p.room = any (v_rooms)
  end;
end
$$;

comment on function pgjobs.count_providers is
  'How many providers are visible from a room. Example: select total from pgjobs.count_providers(''lab-7'')';
