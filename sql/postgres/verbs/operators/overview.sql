-- The queue in one row; for whoever is confined to rooms, the jobs of those. Lines longer than a thousand are estimated; what ended
-- is what sweeps have counted.
create function pgjobs.overview()
returns table (
  at timestamptz,
  jobs integer,
  paused_jobs integer,
  workers integer,
  silent_workers integer,
  waiting bigint,
  oldest_wait interval,
  scheduled bigint,
  claimed bigint,
  running bigint,
  overdue bigint,
  ignored bigint,
  completed_last_hour bigint,
  failed_last_hour bigint,
  cancelled_last_hour bigint,
  retried_last_hour bigint,
  completed_per_minute double precision,
  wait_p50 double precision,
  wait_p95 double precision,
  run_p50 double precision,
  run_p95 double precision
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_jobs integer[] := pgjobs._own_jobs();
  v_now timestamptz := pgjobs._now();
begin
  return query
  with known as (
    select
      count(*) filter (where j.deleted_at is null and j.archived_at is null)::integer as jobs,
      count(*) filter (where j.deleted_at is null and j.paused_at is not null)::integer as paused
    from pgjobs.jobs as j
    where v_jobs is null or j.id = any (v_jobs)
  ), staff as (
    select
      count(*)::integer as workers,
      count(*) filter (where w.last_heartbeat_at < v_now - s.worker_timeout)::integer as silent
    from pgjobs.workers as w
    cross join pgjobs.settings as s
    where v_jobs is null or exists (
      select from pgjobs.worker_jobs as l where l.worker_id = w.id and l.job_id = any (v_jobs)
    )
  ), lines as (
    select
      coalesce(sum(d.waiting), 0)::bigint as waiting, min(d.oldest_at) as oldest_at,
      coalesce(sum(d.scheduled), 0)::bigint as scheduled, coalesce(sum(d.claimed), 0)::bigint as claimed,
      coalesce(sum(d.running), 0)::bigint as running, coalesce(sum(d.overdue), 0)::bigint as overdue
    from pgjobs._depths(v_jobs) as d
  ), put_aside as (
    select count(*) as quantity from (
      select from pgjobs.ignored as a where v_jobs is null or a.job_id = any (v_jobs) limit 10000
    ) as i
  )
  select
    v_now, k.jobs, k.paused, f.workers, f.silent, l.waiting, pgjobs._elapsed(l.oldest_at, v_now), l.scheduled,
    l.claimed, l.running, l.overdue, i.quantity, coalesce(h.completed, 0), coalesce(h.failed, 0),
    coalesce(h.cancelled, 0), coalesce(h.retried, 0), coalesce(m.completed, 0) / 5.0::double precision,
    h.wait_p50, h.wait_p95, h.run_p50, h.run_p95
  from known as k
  cross join staff as f
  cross join lines as l
  cross join put_aside as i
  left join pgjobs._rates_together(v_jobs, v_now - interval '1 hour') as h on true
  -- The present minute is not over, and sweeps come every half minute.
  left join lateral (
    select sum(e.completed)::bigint as completed
    from pgjobs._endings(coalesce(v_jobs, array[0]), v_now - interval '5 minutes') as e
  ) as m on true;
end
$$;

comment on function pgjobs.overview is 'The queue in one row. Example: select * from pgjobs.overview()';
