-- top()
--
-- The busiest jobs on a narrow screen: what is in line and in hand now, and per
-- minute of the last five. `wait` and `run` are what 95 of 100 tasks stayed below.
-- include served_jobs
select now() - 300000000 as v_since, 'job' as v_by, null as v_step, null as v_job;
-- include rates
-- include silent_workers
with busy as (
  select
    j.full_name, j.archived_at, j.paused_at, r.value as rates,
    j.id in (select s.value from json_each(:v_served) as s) as is_served,
    (
      select count(*)
      from worker_jobs as l
      cross join workers as w on w.id = l.worker_id
      where l.job_id = j.id and w.last_heartbeat_at >= now() - (select s.worker_timeout from settings as s)
    ) as live,
    (select count(*) from tasks as t where t.job_id = j.id and t.is_ready) as due,
    (select min(t.due_at) from tasks as t where t.job_id = j.id and t.is_ready) as oldest_at,
    (select count(*) from tasks as t where t.status = 'pending' and not t.is_ready and t.job_id = j.id) as later,
    (select count(*) from tasks as t where t.status in ('claimed', 'running') and t.job_id = j.id) as held,
    (
      select count(*) from tasks as t
      where t.status in ('claimed', 'running') and t.job_id = j.id
        and (t.until <= now() or (t.until is null and t.worker_id in (select s.value from json_each(:v_silent) as s)))
    ) as overdue
  from jobs as j
  left join json_each(:v_rates) as r on json_extract(r.value, '$.part') = j.id
  where j.deleted_at is null
)
select
  iif(length(b.full_name) > 27, substr(b.full_name, 1, 9) || '…' || substr(b.full_name, -17), b.full_name) as job,
  case
    when b.archived_at is not null then 'archived'
    when b.paused_at is not null then 'paused'
    when b.overdue > 0 then 'overdue'
    when b.due > 0 and not b.is_served then 'unserved'
    when b.due + b.held > 0 then 'busy'
    else 'idle'
  end as state,
  b.live,
  b.due,
  short_duration(max(0, now() - b.oldest_at) / 1e6) as oldest,
  b.later,
  b.held,
  coalesce(json_extract(b.rates, '$.completed'), 0) / 5.0 as done,
  coalesce(json_extract(b.rates, '$.failed'), 0) / 5.0 as failed,
  short_duration(json_extract(b.rates, '$.wait_p95')) as wait,
  short_duration(json_extract(b.rates, '$.run_p95')) as run
from busy as b
order by b.held desc, b.due desc, done desc, b.full_name
limit 40;
