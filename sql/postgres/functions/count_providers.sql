-- How many providers list_providers would list.
create function pgjobs.count_providers(room text default null)
returns table (total integer, relation text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select count(*)::integer, 'eq'
  from pgjobs.providers as p
  where count_providers.room is null or p.room in (count_providers.room, '@global');
end
$$;

comment on function pgjobs.count_providers is
  'How many providers are visible from a room. Example: select total from pgjobs.count_providers(''lab-7'')';
