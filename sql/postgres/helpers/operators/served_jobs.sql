-- Jobs whose tasks are taken by somebody who is not registered: holders of a
-- lease, those who have asked to be woken, and those who ended a task lately, seen
-- among the newest that ended.
--
-- Marks are renewed every minute while somebody waits, and stay behind when a
-- worker is killed. What registered workers ended says nothing about today: they
-- may be gone, and their heartbeats tell. A standby has no marks: their table is
-- unlogged, and a statement that names it fails there.
create function pgjobs._jobs_with_holders(now timestamptz)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_marked integer[] := '{}';
begin
  if not pg_is_in_recovery() then
    v_marked := array(
      select distinct j.id
      from pgjobs.waiting_marks as m
      cross join unnest(m.job_ids) as j (id)
      where m.since > _jobs_with_holders.now - interval '90 seconds'
    );
  end if;
  return v_marked || array(
    -- By the key: the pages of a busy table are mostly empty.
    select l.job_id from pgjobs.leases as l where l.task_id > 0 and l.worker_id is null
    union
    select o.job_id
    from (
      select n.job_id, n.holder, n.worker_id, n.status, n.ended_at from pgjobs.outcomes as n order by n.task_id desc limit 1000
    ) as o
    where o.holder is not null and o.worker_id is null and o.status <> 'cancelled'
      and o.ended_at > _jobs_with_holders.now - interval '10 minutes'
  );
end
$$;

comment on function pgjobs._jobs_with_holders is
  'Jobs whose tasks are claimed by unregistered holders. Example: select pgjobs._jobs_with_holders(pgjobs._now())';

-- Jobs whose tasks somebody claims: a registered worker that is alive, or a
-- holder that is not registered.
create function pgjobs._served_jobs(now timestamptz)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return pgjobs._jobs_with_holders(_served_jobs.now) || array(
    select l.job_id
    from pgjobs.worker_jobs as l
    join pgjobs.workers as w on w.id = l.worker_id
    where w.last_heartbeat_at >= _served_jobs.now - (select s.worker_timeout from pgjobs.settings as s)
  );
end
$$;

comment on function pgjobs._served_jobs is 'Jobs that have a live worker or holder. Example: select pgjobs._served_jobs(pgjobs._now())';

create function pgjobs._ago(moment timestamptz, now timestamptz)
returns text
language sql immutable
return pgjobs._short_duration(abs(extract(epoch from pgjobs._known_moment(now) - pgjobs._known_moment(moment)))::double precision);

comment on function pgjobs._ago is 'How far a moment is away. Example: select pgjobs._ago(pgjobs._now() - interval ''1 hour'', pgjobs._now())';
