-- unignore_task(task_id bigint, actor text = null, reason text = null)
--
-- Puts an ignored task back in line: due now, no attempts used.
select
  'unignore' as v_step,
  'ignored' as v_allowed,
  (select t.status = 'ignored' from tasks as t where t.id = :task_id) as v_is_allowed,
  'unignored' as v_kind,
  'pending' as v_status;
-- include refuse_step
-- include enter_lane
-- include record_action
select v.* from task as v where v.id = :task_id;
