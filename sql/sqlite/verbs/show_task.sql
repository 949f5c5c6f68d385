-- show_task(task_uuid uuid)
--
-- One task as HTTP shows it, by its public id.
-- include find_task
select a.* from task_answer as a where a.id = :v_task;
