-- Tasks that should have moved and have not, and what would move them. Of a lane
-- that nobody serves, the task that has waited longest stands for all.
create function pgjobs.stuck()
returns table (
  task_id bigint,
  job text,
  problem text,
  since timestamptz,
  advice text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_alive timestamptz := v_now - (select s.worker_timeout from pgjobs.settings as s);
  v_served integer[] := pgjobs._served_jobs(v_now);
begin
  return query
  with found (task_id, job_id, problem, since, advice) as (
    (
      select
        l.task_id, l.job_id,
        case
          when l.until <= v_now then 'its lease has lapsed'
          when w.id is null then 'its worker is gone'
          when w.last_heartbeat_at < v_alive then 'its worker is silent'
          else 'its worker does not stop although its cancellation was requested'
        end,
        case
          when l.until <= v_now then l.until
          when w.id is null or w.last_heartbeat_at < v_alive then coalesce(w.last_heartbeat_at, l.claimed_at)
          else l.cancel_requested_at
        end,
        case
          when l.until <= v_now then 'select * from pgjobs.sweep(''leases'')'
          when w.id is null or w.last_heartbeat_at < v_alive then 'select * from pgjobs.sweep()'
          else format('select * from pgjobs.cancel_task(%s, force => true)', l.task_id)
        end
      from pgjobs.leases as l
      left join pgjobs.workers as w on w.id = l.worker_id
      where l.task_id > 0 and (
        l.until <= v_now
        or (l.worker_id is not null and (w.id is null or w.last_heartbeat_at < v_alive))
        or l.cancel_requested_at < v_now - interval '1 minute'
      )
      limit 500
    )
    union all
    (
      select s.task_id, s.job_id, 'it is due and was not moved to the queue', s.run_at, 'select * from pgjobs.sweep(''scheduled'')'
      from pgjobs.scheduled as s
      where s.run_at < v_now - interval '1 minute'
      order by s.run_at
      limit 100
    )
    union all
    select r.task_id, j.id, 'no worker serves its job', r.due_at, format('select * from pgjobs.why(%s)', r.task_id)
    from pgjobs.jobs as j
    cross join lateral (select distinct a.priority from pgjobs.lanes as a where a.job_id = j.id) as a
    cross join lateral (
      select c.task_id, c.due_at from pgjobs.ready as c
      where c.job_id = j.id and c.priority = a.priority
      order by c.due_at, c.task_id
      limit 1
    ) as r
    where j.deleted_at is null and j.archived_at is null and j.paused_at is null
      and r.due_at < v_now - interval '1 minute'
      and j.id <> all (v_served)
  )
  select f.task_id, j.full_name, f.problem, f.since, f.advice
  from found as f
  join pgjobs.jobs as j on j.id = f.job_id
  order by f.since, f.task_id;
end
$$;

comment on function pgjobs.stuck is
  'Tasks that should have moved. Example: select task_id, job, problem, advice from pgjobs.stuck()';
