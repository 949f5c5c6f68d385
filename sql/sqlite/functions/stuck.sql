-- stuck()
--
-- Tasks that should have moved and have not, and what would move them. Of a lane
-- that nobody serves, the task that has waited longest stands for all.
-- include served_jobs
with held as (
  select
    t.id, t.job_id, t.until, t.cancel_requested_at, coalesce(w.last_heartbeat_at, t.claimed_at) as heard_at,
    coalesce(t.until <= now(), false) as is_lapsed,
    t.worker_id is not null and w.id is null as is_left,
    coalesce(w.last_heartbeat_at < now() - s.worker_timeout, false) as is_silent
  from tasks as t
  cross join settings as s
  left join workers as w on w.id = t.worker_id
  where t.status in ('claimed', 'running')
), found (task_id, job_id, problem, since, advice) as (
  select
    h.id, h.job_id,
    case
      when h.is_lapsed then 'its lease has lapsed'
      when h.is_left then 'its worker is gone'
      when h.is_silent then 'its worker is silent'
      else 'its worker does not heed the cancellation'
    end,
    case when h.is_lapsed then h.until when h.is_left or h.is_silent then h.heard_at else h.cancel_requested_at end,
    case when h.is_lapsed or h.is_left or h.is_silent then 'sweep()' else 'cancel_task(' || h.id || ', force)' end
  from held as h
  where h.is_lapsed or h.is_left or h.is_silent or h.cancel_requested_at < now() - 60000000
  union all
  select t.id, t.job_id, 'it is due and nobody moves it into line', t.due_at, 'sweep(''scheduled'')'
  from tasks as t
  where t.status = 'pending' and not t.is_ready and t.due_at < now() - 60000000
  union all
  select t.id, t.job_id, 'nobody serves its job', t.due_at, 'why(' || t.id || ')'
  from jobs as j
  cross join lanes as l on l.job_id = j.id
  cross join tasks as t on t.id = (
    select h.id from tasks as h
    where h.job_id = l.job_id and h.priority = l.priority and h.is_ready
    order by h.due_at, h.id
    limit 1
  )
  where j.deleted_at is null and j.archived_at is null and j.paused_at is null
    and t.due_at < now() - 60000000
    and j.id not in (select v.value from json_each(:v_served) as v)
)
select f.task_id, j.full_name as job, f.problem, f.since, f.advice
from found as f
cross join jobs as j on j.id = f.job_id
order by f.since, f.task_id;
