-- get_task(task_id bigint = null, task_uuid uuid = null)
--
-- One task with its payload and result, by number or public id.
select coalesce(:task_id, task_id(:task_uuid, (select s.task_key from secrets as s))) as v_task;
select refuse('task-not-found', 'Task ' || coalesce(:task_id, :task_uuid, '') || ' does not exist')
where not exists (select 1 from tasks as t where t.id = :v_task);
select v.* from task_document as v where v.id = :v_task;
