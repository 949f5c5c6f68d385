-- running()
--
-- Tasks in somebody's hands, those held longest first.
select
  t.id as task_id,
  j.full_name as job,
  t.room,
  t.status,
  iif(t.until <= now(), 'overdue', null) as phase,
  t.attempt,
  t.max_attempts,
  coalesce(t.holder, w.name, t.worker_id) as worker,
  max(0, now() - t.claimed_at) as held_for,
  t.claimed_at,
  t.started_at,
  t.until,
  t.progress,
  t.cancel_requested_at,
  t.worker_id
from tasks as t
cross join jobs as j on j.id = t.job_id
left join workers as w on w.id = t.worker_id
where t.status in ('claimed', 'running')
order by t.claimed_at, t.id
limit 500;
