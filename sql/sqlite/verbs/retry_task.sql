-- retry_task(task_id bigint, actor text = null, reason text = null)
--
-- Starts a task over: due now, no attempts used, its history kept. For tasks
-- that failed, were cancelled or ignored, or wait for a later time.
select json_array(:task_id) as v_one, 'retry' as v_step, 'failed, cancelled, ignored and scheduled' as v_allowed;
-- call retry_tasks(task_ids => :v_one, actor => :actor, reason => :reason) into v_outcome
-- include answer_one_step
