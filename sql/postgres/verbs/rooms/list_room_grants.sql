-- Which roles were granted which rooms: all, or those of a role or a room.
create function pgjobs.list_room_grants(of_role text default null, of_room text default null)
returns setof pgjobs.room_grants
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select g.*
  from pgjobs.room_grants as g
  where (list_room_grants.of_role is null or g.role = list_room_grants.of_role)
    and (list_room_grants.of_room is null or g.room = list_room_grants.of_room)
  order by g.role, g.room;
end
$$;

comment on function pgjobs.list_room_grants is
  'Which roles were granted which rooms. Example: select role, room from pgjobs.list_room_grants()';
