-- failed()
--
-- The 200 newest tasks that failed for good.
select
  t.id as task_id,
  j.full_name as job,
  t.room,
  t.ended_at,
  t.attempt,
  t.max_attempts,
  t.error_kind,
  first_line(t.error) as error,
  t.worker_id,
  t.holder,
  t.owner,
  task_uuid(t.id, (select s.task_key from secrets as s)) as task_uuid
from tasks as t
cross join jobs as j on j.id = t.job_id
where t.status = 'failed'
order by t.id desc
limit 200;
