-- unignore_tasks(task_ids bigint[] = null, task_uuids uuid[] = null, actor text = null, reason text = null, dry_run boolean = false)
--
-- Puts ignored tasks back in line: due now, no attempts used. Named and answered as
-- in retry_tasks.
-- include named_tasks
select json_group_array(t.id) as v_allowing
from tasks as t
where t.id in (select n.value from json_each(:v_named) as n)
  and t.status = 'ignored';
select iif(:dry_run, '[]', :v_allowing) as v_changing, 'unignored' as v_kind, 'pending' as v_status;
-- include enter_lane
-- include record_action
-- include answer_step
