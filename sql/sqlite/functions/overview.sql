-- overview()
--
-- The queue in one row, counted when asked.
select now() - 3600000000 as v_since, 'all' as v_by, null as v_step, null as v_job;
-- include rates
-- include silent_workers
select
  now() as at,
  (select count(*) from jobs as j where j.deleted_at is null and j.archived_at is null) as jobs,
  (select count(*) from jobs as j where j.deleted_at is null and j.paused_at is not null) as paused_jobs,
  (select count(*) from workers) as workers,
  (
    select count(*) from workers as w
    where w.last_heartbeat_at < now() - (select s.worker_timeout from settings as s)
  ) as silent_workers,
  (select count(*) from tasks as t where t.is_ready) as waiting,
  (select max(0, now() - min(t.due_at)) from tasks as t where t.is_ready) as oldest_wait,
  (select count(*) from tasks as t where t.status = 'pending' and not t.is_ready) as scheduled,
  (select count(*) from tasks as t where t.status in ('claimed', 'running') and t.started_at is null) as claimed,
  (select count(*) from tasks as t where t.status in ('claimed', 'running') and t.started_at is not null) as running,
  (
    select count(*) from tasks as t
    where t.status in ('claimed', 'running')
      and (t.until <= now() or (t.until is null and t.worker_id in (select s.value from json_each(:v_silent) as s)))
  ) as overdue,
  (select count(*) from tasks as t where t.status = 'ignored') as ignored,
  coalesce(json_extract(:v_rates, '$[0].completed'), 0) as completed_last_hour,
  coalesce(json_extract(:v_rates, '$[0].failed'), 0) as failed_last_hour,
  coalesce(json_extract(:v_rates, '$[0].cancelled'), 0) as cancelled_last_hour,
  coalesce(json_extract(:v_rates, '$[0].retried'), 0) as retried_last_hour,
  (
    select count(*) / 5.0 from tasks as t where t.status = 'completed' and t.ended_at >= now() - 300000000
  ) as completed_per_minute,
  json_extract(:v_rates, '$[0].wait_p50') as wait_p50,
  json_extract(:v_rates, '$[0].wait_p95') as wait_p95,
  json_extract(:v_rates, '$[0].run_p50') as run_p50,
  json_extract(:v_rates, '$[0].run_p95') as run_p95;
