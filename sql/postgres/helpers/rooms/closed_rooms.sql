-- Who sees what, in one place: verbs ask pgjobs._rooms() and show, take and change
-- only what lies in these rooms. Two things confine a caller. A tenant, a login that may
-- look at pgjobs.my_tasks, has the rooms it was granted; and whoever acts for others, as
-- the HTTP server does, names their rooms in the setting pgjobs.rooms, which only narrows.

-- What the session acts as: the role it was set to, else the login. Verbs run with the
-- rights of their owner, and that changes neither.
create function pgjobs._acting_role()
returns name
language sql stable
as $$ select case current_setting('role') when 'none' then session_user else current_setting('role')::name end $$;

comment on function pgjobs._acting_role is 'The role a session acts as. Example: select pgjobs._acting_role()';

-- Whether the session is confined to the rooms it was granted. Whoever has the rights of
-- the schema's owner is not: superusers see everything. By a right rather than by
-- a role's name, because roles may be managed elsewhere. Within verbs only,
-- where the current user is that owner. SQL without settings here and below, so that it
-- is inlined: a few catalog look-ups are all that verbs pay where nobody is a tenant.
create function pgjobs._is_tenant()
returns boolean
language sql stable
as $$
  select not pg_has_role(pgjobs._acting_role(), current_user, 'usage')
    and coalesce(has_table_privilege(pgjobs._acting_role(), to_regclass('pgjobs.my_tasks'), 'select'), false)
$$;

comment on function pgjobs._is_tenant is 'Whether the session is a tenant''s. Example: select pgjobs._is_tenant()';

-- The rooms a server names for whom it acts; null where nobody named any.
create function pgjobs._named_rooms()
returns text[]
language sql stable
as $$ select nullif(current_setting('pgjobs.rooms', true), '')::text[] $$;

comment on function pgjobs._named_rooms is
  'The rooms a server acts for. Example: select pgjobs._named_rooms()';

-- A tenant's rooms: granted to its role, or to one whose rights it has.
create function pgjobs._granted_rooms()
returns text[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_named text[] := pgjobs._named_rooms();
begin
  return array(
    select distinct g.room from pgjobs.room_grants as g
    where pg_has_role(pgjobs._acting_role(), to_regrole(quote_ident(g.role)), 'usage')
      and (v_named is null or g.room = any (v_named))
  );
end
$$;

comment on function pgjobs._granted_rooms is 'The rooms of a tenant. Example: select pgjobs._granted_rooms()';

-- The rooms the caller is confined to; null for whoever sees all.
create function pgjobs._rooms()
returns text[]
language sql stable
as $$ select case when pgjobs._is_tenant() then pgjobs._granted_rooms() else pgjobs._named_rooms() end $$;

comment on function pgjobs._rooms is
  'The rooms the caller is confined to, null for all. Example: select pgjobs._rooms()';

-- Who acts: what the caller says, but a tenant is its role and nobody else.
create function pgjobs._actor(actor text)
returns text
language sql stable
as $$ select case when pgjobs._is_tenant() then 'role:' || pgjobs._acting_role() else _actor.actor end $$;

comment on function pgjobs._actor is 'Who acts. Example: select pgjobs._actor(''ada'')';

-- Whether something in one of these rooms is not for the caller.
create function pgjobs._is_closed(room text)
returns boolean
language plpgsql stable
as $$
begin
  return coalesce(_is_closed.room <> all (pgjobs._rooms()), false);
end
$$;

comment on function pgjobs._is_closed is
  'Whether a room is closed to the caller. Example: select pgjobs._is_closed(''lab-7'')';

-- The room that the caller names; refuses one they are no member of.
create function pgjobs._enter(room text)
returns text
language plpgsql stable
as $$
begin
  if pgjobs._is_closed(_enter.room) then
    perform pgjobs._refuse('forbidden', format('You are not a member of room %s', left(_enter.room, 200)));
  end if;
  return _enter.room;
end
$$;

comment on function pgjobs._enter is
  'Refuses rooms that are closed to the caller. Example: select pgjobs._enter(''lab-7'')';

-- The same for its jobs, providers and workers: those of @global and @internal are for everybody.
create function pgjobs._look_into(room text)
returns void
language plpgsql stable
as $$
begin
  if _look_into.room not in ('@global', '@internal') then
    perform pgjobs._enter(_look_into.room);
  end if;
end
$$;

comment on function pgjobs._look_into is
  'Refuses to show the jobs of closed rooms. Example: select pgjobs._look_into(''@global'')';

-- The jobs of the caller's own rooms, for numbers that are kept by job: those of a
-- shared job are about everybody's tasks. Null for whoever sees all.
create function pgjobs._own_jobs()
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if v_rooms is null then
    return null;
  end if;
  return array(select j.id from pgjobs.jobs as j where j.room = any (v_rooms));
end
$$;

comment on function pgjobs._own_jobs is
  'The jobs of the caller''s own rooms, null for whoever sees all. Example: select pgjobs._own_jobs()';

-- A key that counts within a room: of a shared job's key the first task may be somebody
-- else's. Only for callers who are confined; the others mean the job's key.
create function pgjobs._keys_of_room(keys text[], room text)
returns text[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if exists (select from unnest(keys) as k (key) where length(_keys_of_room.room || ':' || k.key) > 200) then
    perform pgjobs._refuse('validation-error', 'An idempotency key and its room have at most 199 characters together');
  end if;
  return array(
    select _keys_of_room.room || ':' || k.key from unnest(keys) with ordinality as k (key, place) order by k.place
  );
end
$$;

comment on function pgjobs._keys_of_room is
  'Idempotency keys that count within a room. Example: select pgjobs._keys_of_room(array[''order-7''], ''lab-7'')';

-- Which of these tasks the caller may act on: submitted from one of its rooms, or run by
-- a job of one, which another room may have been let use.
create function pgjobs._tasks_in_reach(task_ids bigint[])
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if v_rooms is null then
    return _tasks_in_reach.task_ids;
  end if;
  return array(
    select t.id
    from unnest(_tasks_in_reach.task_ids) with ordinality as i (id, place)
    join pgjobs.tasks as t on t.id = i.id
    join pgjobs.jobs as j on j.id = t.job_id
    where t.room = any (v_rooms) or j.room = any (v_rooms)
    order by i.place
  );
end
$$;

comment on function pgjobs._tasks_in_reach is
  'Which tasks the caller may act on. Example: select pgjobs._tasks_in_reach(array[41, 42])';

-- Refuses a list of rooms that cannot be.
create function pgjobs._check_rooms(rooms text[])
returns void
language plpgsql stable
as $$
begin
  if cardinality(rooms) > 1000 then
    perform pgjobs._refuse('validation-error', 'A token names at most 1000 rooms');
  end if;
  perform pgjobs._check_room(r.room) from unnest(rooms) as r (room);
end
$$;

comment on function pgjobs._check_rooms is
  'Refuses lists of rooms that cannot be. Example: select pgjobs._check_rooms(array[''lab-7''])';

-- Refuses to confine a role that is no tenant, or that would see every room all the same.
create function pgjobs._check_tenant(role text)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_role oid := to_regrole(quote_ident(_check_tenant.role));
begin
  if v_role is null then
    perform pgjobs._refuse('validation-error', format('There is no role %s', quote_ident(role)));
  end if;
  if not has_table_privilege(v_role, 'pgjobs.my_tasks', 'select') then
    perform pgjobs._refuse('validation-error', format('Role %s is no tenant', quote_ident(role)),
      null, 'Grant it the role for tenants first; its name ends in _tenant.');
  end if;
  if has_table_privilege(v_role, 'pgjobs.task', 'select') then
    perform pgjobs._refuse('validation-error', format('Role %s may read the tasks of every room', quote_ident(role)),
      'It has another of the queue''s roles, or the rights of its owner.', 'A tenant has the role for tenants and no other of the queue''s.');
  end if;
end
$$;

comment on function pgjobs._check_tenant is
  'Refuses roles that cannot be confined. Example: select pgjobs._check_tenant(''lab_app'')';
