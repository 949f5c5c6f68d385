-- ignore_task(task_id bigint, actor text = null, reason text = null)
--
-- Puts a pending or failed task aside until somebody unignores or retries it.
select refuse('validation-error', 'A reason has at most 200 characters')
where length(redact(:reason)) > 200;
select
  'ignore' as v_step,
  'pending and failed' as v_allowed,
  (select t.status in ('pending', 'failed') from tasks as t where t.id = :task_id) as v_is_allowed,
  'ignored' as v_kind,
  'ignored' as v_status;
-- include refuse_step
-- include keep_outcome
update tasks
set
  status = 'ignored',
  reason = redact(:reason),
  actor = :actor,
  is_ready = false,
  due_at = null,
  token = null,
  worker_id = null,
  holder = null,
  claimed_at = null,
  started_at = null,
  ended_at = null,
  error = null,
  error_kind = null
where id = :task_id;
-- include record_action
select v.* from task as v where v.id = :task_id;
