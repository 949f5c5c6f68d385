-- Numbers of an owner's or a project's newest tasks that fit the other filters.
--
-- No index knows owners, since every submit would pay for it (a third more WAL with
-- owners given, one by one): a room's tasks are
-- read from its own, and without a room everybody's, newest first.
create function pgjobs._newest_owned(
  owner text, project text, room text, job_id integer, status text, before bigint, wanted bigint
)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if room is null then
    return query
    select t.id
    from pgjobs.tasks as t
    where t.id < _newest_owned.before
      and (_newest_owned.owner is null or t.owner = _newest_owned.owner)
      and (_newest_owned.project is null or t.project = _newest_owned.project)
      and (_newest_owned.job_id is null or t.job_id = _newest_owned.job_id)
      and (_newest_owned.status is null or _newest_owned.status = (select v.status from pgjobs.task as v where v.id = t.id))
    order by t.id desc
    limit wanted;
    return;
  end if;
  return query
  select n.id
  from unnest(
    case when _newest_owned.job_id is null then pgjobs._jobs_used_in(_newest_owned.room) else array[_newest_owned.job_id] end
  ) as j (id)
  cross join lateral (
    select t.id
    from pgjobs.tasks as t
    where t.room = _newest_owned.room and (t.job_id, t.id) > (j.id, 0)
      and (t.job_id, t.id) < (j.id, _newest_owned.before)
      and (_newest_owned.owner is null or t.owner = _newest_owned.owner)
      and (_newest_owned.project is null or t.project = _newest_owned.project)
      and (_newest_owned.status is null or _newest_owned.status = (select v.status from pgjobs.task as v where v.id = t.id))
    order by t.room desc, t.job_id desc, t.id desc
    limit wanted
  ) as n
  order by n.id desc
  limit wanted;
end
$$;

comment on function pgjobs._newest_owned is
  'Numbers of an owner''s newest tasks. Example: select * from pgjobs._newest_owned(''ada'', null, null, null, ''failed'', 1000, 50)';

-- Numbers of the newest tasks of some rooms that fit the other filters.
create function pgjobs._newest_in_rooms(
  rooms text[], owner text, project text, job_id integer, status text, before bigint, wanted bigint
)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if coalesce(owner, project) is not null then
    return query
    select n.id
    from unnest(rooms) as r (room)
    cross join lateral pgjobs._newest_owned(
      _newest_in_rooms.owner, _newest_in_rooms.project, r.room, _newest_in_rooms.job_id, _newest_in_rooms.status,
      _newest_in_rooms.before, _newest_in_rooms.wanted
    ) as n (id)
    order by n.id desc
    limit wanted;
    return;
  end if;
  return query
  select p.id
  from unnest(rooms) as r (room)
  cross join lateral pgjobs._page_of_tasks(
    r.room, case when job_id is null then pgjobs._jobs_used_in(r.room) else array[job_id] end,
    _newest_in_rooms.status, _newest_in_rooms.before, _newest_in_rooms.wanted
  ) as p (id)
  order by p.id desc
  limit wanted;
end
$$;

comment on function pgjobs._newest_in_rooms is
  'Numbers of the newest tasks of some rooms. Example: select * from pgjobs._newest_in_rooms(array[''lab-7''], null, null, null, ''failed'', 1000, 50)';
