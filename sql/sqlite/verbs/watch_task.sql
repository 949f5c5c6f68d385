-- watch_task(task_id bigint)
--
-- Asks for a notification on `ended` with the task's number when it ends, and
-- answers its status now.
select refuse('task-not-found', 'Task ' || :task_id || ' does not exist')
where not exists (select 1 from tasks as t where t.id = :task_id);
insert into watched (task_id, since)
select t.id, now() from tasks as t where t.id = :task_id and t.ended_at is null
on conflict do nothing;
select t.status from tasks as t where t.id = :task_id;
