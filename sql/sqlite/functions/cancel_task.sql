-- cancel_task(task_id bigint, reason text = null, force boolean = false, actor text = null)
--
-- Cancels a task. A pending one ends at once; the worker of a claimed or running
-- one is asked to stop and learns of it at its next renew or progress report.
-- With `force` it ends now, and its holder's token is worth nothing.
select
  'cancel' as v_step,
  'pending, claimed and running' as v_allowed,
  (
    select t.status in ('pending', 'claimed', 'running') from tasks as t where t.id = :task_id
  ) as v_is_allowed,
  (
    select t.status in ('claimed', 'running') and not :force from tasks as t where t.id = :task_id
  ) as v_is_asked,
  substr(redact(:reason), 1, 500) as v_reason;
-- include refuse_step
update tasks
set
  status = 'cancelled',
  ended_at = now(),
  reason = coalesce(:v_reason, reason),
  actor = :actor,
  is_ready = false,
  due_at = null,
  until = null,
  error = null,
  error_kind = null,
  progress = null,
  cancel_requested_at = null
where id = :task_id and not :v_is_asked;
update tasks
set cancel_requested_at = coalesce(cancel_requested_at, now()), reason = coalesce(:v_reason, reason)
where id = :task_id and :v_is_asked;
insert into events (at, kind, task_id, job_id, room, actor, message)
select now(), 'cancel_requested', t.id, t.job_id, t.room, :actor, :v_reason
from tasks as t
where t.id = :task_id and :v_is_asked;
select v.* from task as v where v.id = :task_id;
