-- scheduled_tasks()
--
-- The next 500 tasks that become due by themselves: delayed, or backing off
-- after an error.
select
  t.due_at as run_at,
  t.due_at - now() as due_in,
  t.id as task_id,
  j.full_name as job,
  t.room,
  case
    when t.error is null then 'scheduled'
    when t.error_kind in ('auth', 'config') then 'blocked'
    else 'retrying'
  end as phase,
  t.priority,
  t.attempt,
  t.max_attempts,
  t.error_kind,
  first_line(t.error) as error
from tasks as t
cross join jobs as j on j.id = t.job_id
where t.status = 'pending' and not t.is_ready
order by t.due_at, t.id
limit 500;
