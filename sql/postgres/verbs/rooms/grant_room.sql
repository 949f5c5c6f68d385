-- Opens a room to a tenant: to a login, or to a group of logins, that has the role for
-- tenants and none that sees every room. Granting twice is granting once.
create function pgjobs.grant_room(role text, room text)
returns setof pgjobs.room_grants
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._check_room(grant_room.room);
  perform pgjobs._check_tenant(grant_room.role);
  insert into pgjobs.room_grants (role, room, granted_at)
  values (grant_room.role, grant_room.room, pgjobs._now())
  on conflict do nothing;
  return query
  select g.* from pgjobs.room_grants as g where g.role = grant_room.role and g.room = grant_room.room;
end
$$;

comment on function pgjobs.grant_room is
  'Opens a room to a tenant''s role. Example: select * from pgjobs.grant_room(''lab_app'', ''lab-7'')';
