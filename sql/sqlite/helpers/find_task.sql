-- Finds the task of :task_uuid as :v_task.
select task_id(:task_uuid, (select s.task_key from secrets as s)) as v_task;
select refuse('task-not-found', 'Task ' || :task_uuid || ' does not exist')
where not exists (select 1 from tasks as t where t.id = :v_task);
