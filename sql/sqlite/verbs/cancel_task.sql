-- cancel_task(task_id bigint, reason text = null, force boolean = false, actor text = null)
--
-- Cancels a task. A pending one ends at once; the worker of a claimed or running
-- one is asked to stop and learns of it at its next renew or progress report.
-- With `force` it ends now, and its holder's token is worth nothing.
select json_array(:task_id) as v_one, 'cancel' as v_step, 'pending, claimed and running' as v_allowed;
-- call cancel_tasks(task_ids => :v_one, reason => :reason, force => :force, actor => :actor) into v_outcome
-- include answer_one_step
