-- retry_tasks(task_ids bigint[] = null, task_uuids uuid[] = null, actor text = null, reason text = null, dry_run boolean = false)
--
-- Starts tasks over: due now, no attempts used, their history kept. For tasks that
-- failed, were cancelled or ignored, or wait for a later time; named by number or by
-- public id. Answers per item: its status, and the problem's SQLSTATE if it was left
-- as it is. With `dry_run` it only tells.
-- include named_tasks
select json_group_array(t.id) as v_allowing
from tasks as t
where t.id in (select n.value from json_each(:v_named) as n)
  and (t.status in ('failed', 'cancelled', 'ignored') or (t.status = 'pending' and not t.is_ready));
select iif(:dry_run, '[]', :v_allowing) as v_changing, 'retried' as v_kind, 'pending' as v_status;
-- include keep_outcome
-- include enter_lane
-- include record_action
-- include answer_step
