-- track_tasks(task_ids bigint[])
--
-- How some tasks stand now, without their documents: what live events show of them.
select refuse('validation-error', 'task_ids has at most 1000 entries')
where json_array_length(:task_ids) > 1000;
select
  t.id, t.phase, t.created_at, t.started_at, t.status, t.error,
  case when t.status = 'pending' then (
    select 1 + count(*)
    from tasks as p
    join tasks as o on o.id = t.id
    where p.job_id = o.job_id and p.status = 'pending'
      and (not p.is_ready, p.priority * p.is_ready, p.due_at, p.id)
      < (not o.is_ready, o.priority * o.is_ready, o.due_at, o.id)
  ) end as queue_position
from task as t
where t.id in (select i.value from json_each(:task_ids) as i);
