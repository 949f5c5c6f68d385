-- inspect_task(task_uuid uuid)
--
-- One task as the console shows it, with its payload, its result and its place in line.
-- include find_task
select
-- include seen_task
  as document,
  a.payload,
  a.result,
  iif(v.status = 'pending', a.queue_position, null) as queue_position
from task as v
join task_answer as a on a.id = v.id
where v.id = :v_task;
