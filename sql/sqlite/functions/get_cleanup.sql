-- get_cleanup(run_id uuid)
--
-- The clean-up task of a run.
-- include find_cleanup
select c.* from incomplete_cleanup_tasks as c where c.task_id = :v_task;
