-- retry_cleanup(run_id uuid, actor text = null, reason text = null)
--
-- Tries to clean up after a run now, with no attempts used; refused while that
-- runs and when it is done.
-- include find_cleanup
select
  :v_task as task_id, :v_task as v_task, 'retry' as v_step, 'queued, retrying, blocked, ignored and abandoned' as v_allowed,
  'retried' as v_kind, 'pending' as v_status;
-- include refuse_cleanup_step
insert into attempts (
  task_id, attempt, status, token, worker_id, holder, claimed_at, started_at, ended_at, error, error_kind, reason
)
select
  t.id, t.attempt, t.status, t.token, t.worker_id, t.holder, t.claimed_at, t.started_at, t.ended_at,
  t.error, t.error_kind, t.reason
from tasks as t
where t.id = :v_task and t.status in ('failed', 'cancelled');
-- Out of line first, so that entering it wakes whoever waits.
update tasks set is_ready = false where id = :v_task and is_ready;
update tasks
set
  status = 'pending',
  is_ready = true,
  due_at = now(),
  attempt = 0,
  token = null,
  worker_id = null,
  holder = null,
  claimed_at = null,
  started_at = null,
  ended_at = null,
  error = null,
  error_kind = null,
  reason = null,
  actor = null
where id = :v_task;
insert into events (at, kind, task_id, job_id, room, status, actor, message)
select now(), 'retried', t.id, t.job_id, t.room, 'pending', :actor, redact_line(:reason)
from tasks as t
where t.id = :v_task;
select c.* from incomplete_cleanup_tasks as c where c.task_id = :v_task;
