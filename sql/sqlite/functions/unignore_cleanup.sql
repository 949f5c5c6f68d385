-- unignore_cleanup(run_id uuid, actor text = null, reason text = null)
--
-- Takes up again what somebody ignored: due now, no attempts used.
-- include find_cleanup
select 'unignore' as v_step, 'ignored' as v_allowed;
-- include refuse_cleanup_step
-- call unignore_task(task_id => :v_task, actor => :actor, reason => :reason) into v_unignored
select c.* from incomplete_cleanup_tasks as c where c.task_id = :v_task;
