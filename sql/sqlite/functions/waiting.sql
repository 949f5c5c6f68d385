-- waiting()
--
-- The first ten due tasks of every lane, in the order they will be claimed there.
with heads as (
  select
    l.job_id, l.priority, t.id, t.due_at,
    row_number() over (partition by l.job_id, l.priority order by t.due_at, t.id) as place
  from lanes as l
  cross join tasks as t on t.job_id = l.job_id and t.priority = l.priority and t.is_ready
  where t.id in (
    select h.id from tasks as h
    where h.job_id = l.job_id and h.priority = l.priority and h.is_ready
    order by h.due_at, h.id
    limit 10
  )
)
select
  j.full_name as job,
  h.priority,
  h.place,
  h.id as task_id,
  t.room,
  h.due_at,
  max(0, now() - h.due_at) as waited,
  t.attempt,
  t.max_attempts,
  t.owner
from heads as h
cross join tasks as t on t.id = h.id
cross join jobs as j on j.id = h.job_id
order by j.full_name, h.priority, h.place;
