-- jobs_status(of_jobs integer[] = null, with_times boolean = true)
--
-- Every job that is registered, or some of them: what waits and runs, and what the last
-- hour gave. How long that took is left out where nobody wants to know.
select now() - 3600000000 as v_since, 'job' as v_by, null as v_step, null as v_job;
-- include rates
-- include silent_workers
select
  j.full_name as job,
  case when j.archived_at is not null then 'archived' when j.paused_at is not null then 'paused' else 'open' end as state,
  (
    select count(*)
    from worker_jobs as l
    cross join workers as w on w.id = l.worker_id
    where l.job_id = j.id and w.last_heartbeat_at >= now() - (select s.worker_timeout from settings as s)
  ) as workers,
  (select count(*) from tasks as t where t.job_id = j.id and t.is_ready) as waiting,
  (select max(0, now() - min(t.due_at)) from tasks as t where t.job_id = j.id and t.is_ready) as oldest_wait,
  (
    select count(*) from tasks as t where t.status = 'pending' and not t.is_ready and t.job_id = j.id
  ) as scheduled,
  coalesce(h.claimed, 0) as claimed,
  coalesce(h.running, 0) as running,
  coalesce(h.overdue, 0) as overdue,
  coalesce(json_extract(r.value, '$.completed'), 0) as completed_last_hour,
  coalesce(json_extract(r.value, '$.failed'), 0) as failed_last_hour,
  coalesce(json_extract(r.value, '$.cancelled'), 0) as cancelled_last_hour,
  coalesce(json_extract(r.value, '$.retried'), 0) as retried_last_hour,
  iif(:with_times, json_extract(r.value, '$.wait_p50'), null) as wait_p50,
  iif(:with_times, json_extract(r.value, '$.wait_p95'), null) as wait_p95,
  iif(:with_times, json_extract(r.value, '$.run_p50'), null) as run_p50,
  iif(:with_times, json_extract(r.value, '$.run_p95'), null) as run_p95,
  j.id as job_id
from jobs as j
left join (
  select
    t.job_id,
    sum(t.started_at is null) as claimed,
    sum(t.started_at is not null) as running,
    sum(coalesce(t.until <= now(), t.worker_id in (select s.value from json_each(:v_silent) as s), false)) as overdue
  from tasks as t
  where t.status in ('claimed', 'running')
  group by t.job_id
) as h on h.job_id = j.id
left join json_each(:v_rates) as r on json_extract(r.value, '$.part') = j.id
where j.deleted_at is null and (:of_jobs is null or j.id in (select o.value from json_each(:of_jobs) as o))
order by j.full_name;
