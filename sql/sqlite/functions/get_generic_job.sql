-- get_generic_job(task_id bigint = null, task_uuid uuid = null)
--
-- One task in the words of the generic job manager, by number or public id.
select coalesce(:task_id, task_id(:task_uuid, (select s.task_key from secrets as s))) as v_task;
select refuse('task-not-found', 'Task ' || coalesce(:task_id, :task_uuid, '') || ' does not exist')
where not exists (select 1 from tasks as t where t.id = :v_task);
select json_array(:v_task) as v_tasks;
-- include show_generic_jobs
