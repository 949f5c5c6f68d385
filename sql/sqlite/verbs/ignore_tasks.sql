-- ignore_tasks(task_ids bigint[] = null, task_uuids uuid[] = null, actor text = null, reason text = null, dry_run boolean = false)
--
-- Puts pending or failed tasks aside until somebody unignores or retries them. Named
-- and answered as in retry_tasks.
select refuse('validation-error', 'A reason has at most 200 characters')
where length(redact(:reason)) > 200;
-- include named_tasks
select json_group_array(t.id) as v_allowing
from tasks as t
where t.id in (select n.value from json_each(:v_named) as n)
  and t.status in ('pending', 'failed');
select iif(:dry_run, '[]', :v_allowing) as v_changing, 'ignored' as v_kind, 'ignored' as v_status;
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
  updated_at = now(),
  error = null,
  error_kind = null
where id in (select c.value from json_each(:v_changing) as c);
-- include record_action
-- include answer_step
