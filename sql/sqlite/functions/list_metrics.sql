-- list_metrics()
--
-- The numbers of every job, one row each: what waits and runs now (queued,
-- backlog, processing, stale_processing), and of the tasks still kept what ended
-- (completed, failed, cancelled, retried) and how long it took (duration,
-- latency, with the upper bound of each bucket in `up_to`).
with bounds (up_to) as (
  values (0.01), (0.05), (0.1), (0.5), (1.0), (2.5), (5.0), (10.0), (30.0), (60.0), (300.0), (900.0), (3600.0), (9e999)
), numbers (job_id, measure, up_to, seconds) as (
  select t.job_id, t.status, null, 0.0 from tasks as t where t.ended_at is not null
  union all
  select t.job_id, 'queued', null, 0.0 from tasks as t where t.status = 'pending'
  union all
  select t.job_id, 'backlog', null, 0.0 from tasks as t where t.status = 'pending' and t.due_at <= now()
  union all
  select t.job_id, 'processing', null, 0.0 from tasks as t where t.status in ('claimed', 'running')
  union all
  select t.job_id, 'stale_processing', null, 0.0 from tasks as t where t.until <= now()
  union all
  select t.job_id, 'retried', null, 0.0 from attempts as a cross join tasks as t on t.id = a.task_id
  where a.status = 'failed'
  union all
  select
    t.job_id, 'duration', (select min(b.up_to) from bounds as b where b.up_to >= (t.ended_at - t.claimed_at) / 1e6),
    (t.ended_at - t.claimed_at) / 1e6
  from tasks as t
  where t.status = 'completed'
  union all
  select
    t.job_id, 'latency', (select min(b.up_to) from bounds as b where b.up_to >= (t.claimed_at - t.created_at) / 1e6),
    (t.claimed_at - t.created_at) / 1e6
  from tasks as t
  where t.ended_at is not null and t.claimed_at is not null
), measured as (
  select n.job_id, n.measure, n.up_to, count(*) as quantity, sum(n.seconds) as seconds
  from numbers as n
  group by n.job_id, n.measure, n.up_to
  union all
  select j.id, m.column1, null, 0, 0.0
  from jobs as j
  cross join (
    values
    ('queued'), ('backlog'), ('processing'), ('stale_processing'),
    ('completed'), ('failed'), ('cancelled'), ('retried')
  ) as m
  where j.deleted_at is null
)
select
  j.room as domain,
  j.category as queue,
  j.name as job_type,
  m.measure,
  m.up_to,
  sum(m.quantity) as quantity,
  sum(m.seconds) as seconds
from measured as m
cross join jobs as j on j.id = m.job_id
group by j.room, j.category, j.name, m.measure, m.up_to
order by j.room, j.category, j.name, m.measure, m.up_to;
