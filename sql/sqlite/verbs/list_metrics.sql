-- list_metrics()
--
-- The numbers of every job, one row each: what waits and runs now (queued,
-- backlog, processing, stale_processing), whether it is paused or archived (paused), what
-- ended in all time (completed, failed, cancelled, retried) and how long it took (duration,
-- latency, with the upper bound of each bucket in `up_to`).
with numbers (job_id, measure, up_to, quantity, seconds) as (
  select t.job_id, 'queued', null, count(*), 0.0 from tasks as t where t.status = 'pending' group by t.job_id
  union all
  select t.job_id, 'backlog', null, count(*), 0.0
  from tasks as t
  where t.status = 'pending' and t.due_at <= now()
  group by t.job_id
  union all
  select t.job_id, 'processing', null, count(*), 0.0
  from tasks as t
  where t.status in ('claimed', 'running')
  group by t.job_id
  union all
  select t.job_id, 'stale_processing', null, count(*), 0.0
  from tasks as t
  where t.status in ('claimed', 'running')
    and (t.until <= now() or (t.until is null and t.worker_id in (
      select w.id from workers as w where w.last_heartbeat_at < now() - (select s.worker_timeout from settings as s)
    )))
  group by t.job_id
  union all
  select j.id, 'paused', null, j.paused_at is not null or j.archived_at is not null, 0.0
  from jobs as j
  where j.deleted_at is null
  union all
  select
    r.job_id, r.measure,
    (select b.up_to from histogram_bounds as b where b.bucket = r.bucket and r.measure in ('duration', 'latency')),
    r.quantity, r.seconds
  from totals as r
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
  n.measure,
  n.up_to,
  sum(n.quantity) as quantity,
  sum(n.seconds) as seconds
from numbers as n
cross join jobs as j on j.id = n.job_id
group by j.room, j.category, j.name, n.measure, n.up_to
order by j.room, j.category, j.name, n.measure, n.up_to;
