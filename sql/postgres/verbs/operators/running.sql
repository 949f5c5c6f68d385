-- Tasks in somebody's hands, those held longest first.
create function pgjobs.running()
returns table (
  task_id bigint,
  job text,
  room text,
  status text,
  phase text,
  attempt smallint,
  max_attempts smallint,
  worker text,
  held_for interval,
  claimed_at timestamptz,
  started_at timestamptz,
  until timestamptz,
  progress jsonb,
  cancel_requested_at timestamptz,
  worker_id uuid
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
begin
  return query
  select
    l.task_id, j.full_name, t.room, case when l.started_at is null then 'claimed' else 'running' end,
    case when l.until <= v_now then 'overdue' end, l.attempt, t.max_attempts,
    coalesce(l.holder, w.name, l.worker_id::text), pgjobs._elapsed(l.claimed_at, v_now), l.claimed_at,
    l.started_at, l.until, l.progress, l.cancel_requested_at, l.worker_id
  from (select h.* from pgjobs.leases as h where h.task_id > 0 order by h.claimed_at, h.task_id limit 500) as l
  join pgjobs.tasks as t on t.id = l.task_id
  join pgjobs.jobs as j on j.id = l.job_id
  left join pgjobs.workers as w on w.id = l.worker_id
  order by l.claimed_at, l.task_id;
end
$$;

comment on function pgjobs.running is
  'Claimed and running tasks. Example: select task_id, job, worker, held_for, progress from pgjobs.running()';
