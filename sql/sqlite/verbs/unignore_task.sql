-- unignore_task(task_id bigint, actor text = null, reason text = null)
--
-- Puts an ignored task back in line: due now, no attempts used.
select json_array(:task_id) as v_one, 'unignore' as v_step, 'ignored' as v_allowed;
-- call unignore_tasks(task_ids => :v_one, actor => :actor, reason => :reason) into v_outcome
-- include answer_one_step
