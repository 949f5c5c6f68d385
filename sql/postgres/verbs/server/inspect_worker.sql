-- One worker as the console shows it: the jobs it serves, the tasks it holds with their
-- leases, how far its clock is off, and the newest errors it ended tasks with, looked for
-- among the attempts and tasks that failed last.
create function pgjobs.inspect_worker(worker_id uuid)
returns table (
  id uuid,
  name text,
  owner text,
  registered_at timestamptz,
  last_heartbeat_at timestamptz,
  is_alive boolean,
  silent_after interval,
  clock_ahead interval,
  serves jsonb,
  holds jsonb,
  failures jsonb,
  failures_looked_at integer
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_jobs integer[] := pgjobs._own_jobs();
  v_timeout interval := (select s.worker_timeout from pgjobs.settings as s);
  v_key bytea := (select k.task_key from pgjobs.secrets as k);
  v_looked integer := 2000;
begin
  return query
  select
    w.id, w.name, w.owner, w.registered_at, w.last_heartbeat_at, w.last_heartbeat_at > pgjobs._now() - v_timeout, v_timeout, w.clock_ahead,
    (
      select coalesce(jsonb_agg(j.full_name order by j.full_name), '[]')
      from pgjobs.worker_jobs as s
      join pgjobs.jobs as j on j.id = s.job_id
      where s.worker_id = w.id and (v_jobs is null or s.job_id = any (v_jobs))
    ),
    (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', pgjobs._uuid_of(h.task_id, v_key), 'job', h.full_name, 'attempt', h.attempt,
        'claimed_at', pgjobs._known_moment(h.claimed_at), 'started_at', pgjobs._known_moment(h.started_at),
        'until', pgjobs._known_moment(h.until), 'progress', h.progress,
        'cancel_requested_at', pgjobs._known_moment(h.cancel_requested_at)
      ) order by h.claimed_at, h.task_id), '[]')
      from (
        select l.*, j.full_name
        from pgjobs.leases as l
        join pgjobs.jobs as j on j.id = l.job_id
        -- By the key: the pages of a busy table are mostly empty.
        where l.task_id > 0 and l.worker_id = w.id
          and (v_rooms is null or exists (select from pgjobs.tasks as t where t.id = l.task_id and t.room = any (v_rooms)))
        order by l.claimed_at, l.task_id
        limit 200
      ) as h
    ),
    (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', pgjobs._uuid_of(e.task_id, v_key), 'job', e.full_name, 'attempt', e.attempt,
        'ended_at', pgjobs._known_moment(e.ended_at), 'error_kind', e.error_kind,
        'error', pgjobs._redact_line(e.error)
      ) order by e.ended_at desc), '[]')
      from (
        select f.task_id, f.attempt, f.ended_at, f.error_kind, f.error, j.full_name
        from (
          select a.task_id, a.attempt, a.ended_at, a.error_kind, a.error, a.worker_id
          from (select n.* from pgjobs.attempts as n order by n.id desc limit v_looked) as a
          where a.status = 'failed'
          union all
          select o.task_id, o.attempt, o.ended_at, o.error_kind, o.error, o.worker_id
          from (
            select n.* from pgjobs.outcomes as n
            where n.status = 'failed' and n.status <> 'completed'
            order by n.task_id desc
            limit v_looked
          ) as o
        ) as f
        join pgjobs.tasks as t on t.id = f.task_id
        join pgjobs.jobs as j on j.id = t.job_id
        where f.worker_id = w.id and (v_rooms is null or t.room = any (v_rooms))
        order by f.ended_at desc
        limit 20
      ) as e
    ),
    v_looked
  from pgjobs.workers as w
  where w.id = inspect_worker.worker_id
    and (v_jobs is null or exists (select from pgjobs.worker_jobs as s where s.worker_id = w.id and s.job_id = any (v_jobs)));
  if not found then
    perform pgjobs._refuse('worker-not-found', format('Worker %s does not exist', inspect_worker.worker_id),
      'It was never registered, was retired, or its heartbeats stopped.');
  end if;
end
$$;

comment on function pgjobs.inspect_worker is
  'One worker in full. Example: select name, serves, holds from pgjobs.inspect_worker((select w.id from pgjobs.workers as w limit 1))';
