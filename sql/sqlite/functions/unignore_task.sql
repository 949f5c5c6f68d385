-- unignore_task(task_id bigint, actor text = null, reason text = null)
--
-- Puts an ignored task back in line: due now, no attempts used.
select json_array(:task_id) as v_one;
-- call unignore_tasks(task_ids => :v_one, actor => :actor, reason => :reason) into v_outcome
select
  'unignore' as v_step,
  'ignored' as v_allowed,
  json_extract(:v_outcome, '$[0].problem') is null as v_is_allowed;
-- include refuse_step
select v.* from task as v where v.id = :task_id;
