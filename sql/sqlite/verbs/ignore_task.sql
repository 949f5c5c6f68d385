-- ignore_task(task_id bigint, actor text = null, reason text = null)
--
-- Puts a pending or failed task aside until somebody unignores or retries it.
select json_array(:task_id) as v_one, 'ignore' as v_step, 'pending and failed' as v_allowed;
-- call ignore_tasks(task_ids => :v_one, actor => :actor, reason => :reason) into v_outcome
-- include answer_one_step
