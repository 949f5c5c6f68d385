-- errors(of_job text = null)
--
-- Failed attempts of the last week by fingerprint, those of today first. What
-- differs only in numbers, ids and quoted words counts as one error.
select :of_job as v_address;
-- include find_job
with known as (
  select t.job_id, t.ended_at as at, t.error_kind, t.error, t.id as task_id
  from tasks as t
  where t.ended_at > now() - 604800000000 and t.status = 'failed'
  union all
  select t.job_id, a.ended_at, a.error_kind, a.error, t.id
  from attempts as a
  cross join tasks as t on t.id = a.task_id
  where a.ended_at > now() - 604800000000 and a.status = 'failed'
), marked as (
  select k.*, error_fingerprint(k.error_kind, k.error) as fingerprint from known as k
)
select
  m.fingerprint,
  j.full_name as job,
  m.error_kind,
  first_line(m.error) as message,
  sum(m.at > now() - 3600000000) as last_hour,
  sum(m.at > now() - 86400000000) as last_day,
  count(*) as last_week,
  -- SQLite takes the other columns from the row that has it.
  max(m.at) as last_at,
  m.task_id as last_task_id
from marked as m
cross join jobs as j on j.id = m.job_id
where :v_job is null or m.job_id = :v_job
group by m.fingerprint, j.full_name
order by last_day desc, last_week desc, m.fingerprint
limit 500;
