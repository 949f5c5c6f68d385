-- list_task_events(task_id bigint, before bigint = null, page_size integer = 500)
--
-- What happened to a task, the last of it, oldest first. Pass the first row's `seq`
-- as `before` to see what came earlier.
select 0 as v_page_offset;
-- include check_page
select refuse('task-not-found', 'Task ' || :task_id || ' does not exist')
where not exists (select 1 from tasks as t where t.id = :task_id);
select l.id as seq, l.at, l.kind, l.status, l.worker_id, l.actor, l.message, l.fields
from (
  select e.*
  from events as e
  where e.task_id = :task_id
    and e.id < coalesce(:before, 9223372036854775807)
  order by e.id desc
  limit :page_size
) as l
order by l.id;
