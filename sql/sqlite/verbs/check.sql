-- check()
--
-- Counts what must never be; every row should say 0. Reads every table: for
-- tests and doctors, not for dashboards.
select 'a task is in exactly one place' as rule, count(*) as violations
from tasks as t
where (t.status = 'pending') + (t.status in ('claimed', 'running')) + (t.ended_at is not null) + (t.status = 'ignored') <> 1
union all
select 'every task has a job', count(*)
from tasks as t
where not exists (select 1 from jobs as j where j.id = t.job_id)
union all
select 'attempts stay within their limit', count(*)
from tasks as t
where t.attempt > t.max_attempts
union all
select 'a token is issued once', count(*) - count(distinct u.token)
from (
  select t.token from tasks as t where t.token is not null
  union all
  select a.token from attempts as a where a.token is not null
) as u
union all
select 'a lane is known before it is used', count(*)
from (select distinct t.job_id, t.priority from tasks as t where t.is_ready) as r
where not exists (select 1 from lanes as l where l.job_id = r.job_id and l.priority = r.priority)
union all
select 'history belongs to a task', count(*)
from attempts as a
where not exists (select 1 from tasks as t where t.id = a.task_id);
