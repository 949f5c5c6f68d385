-- Closes a room to a tenant's role again; no row where it was not open.
create function pgjobs.revoke_room(role text, room text)
returns setof pgjobs.room_grants
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  delete from pgjobs.room_grants as g
  where g.role = revoke_room.role and g.room = revoke_room.room
  returning g.*;
end
$$;

comment on function pgjobs.revoke_room is
  'Closes a room to a tenant''s role. Example: select * from pgjobs.revoke_room(''lab_app'', ''lab-7'')';
