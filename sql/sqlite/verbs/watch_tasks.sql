-- watch_tasks(task_ids bigint[])
--
-- watch_task for many: asks for a notification on `ended` for each that has not
-- ended, and answers those that have, or do not exist.
select refuse('validation-error', 'task_ids has at most 10000 entries')
where json_array_length(:task_ids) > 10000;
insert into watched (task_id, since)
select t.id, now()
from json_each(:task_ids) as i
cross join tasks as t on t.id = i.value and t.ended_at is null
where true
on conflict do nothing;
select i.value as task_id
from json_each(:task_ids) as i
where not exists (select 1 from tasks as t where t.id = i.value and t.ended_at is null);
