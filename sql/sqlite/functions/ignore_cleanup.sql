-- ignore_cleanup(run_id uuid, actor text = null, reason text = null)
--
-- Leaves what a run left behind where it is, until somebody unignores or retries
-- it; refused while it is being removed and when it is gone.
-- include find_cleanup
select refuse('validation-error', 'A reason has at most 200 characters')
where length(redact(:reason)) > 200;
select 'ignore' as v_step, 'queued, retrying, blocked and abandoned' as v_allowed;
-- include refuse_cleanup_step
-- call ignore_task(task_id => :v_task, actor => :actor, reason => :reason) into v_ignored
select c.* from incomplete_cleanup_tasks as c where c.task_id = :v_task;
