-- Every job that is registered, or some of them: what waits and runs, and what the last
-- hour gave. How long that took is most of the work; not everybody wants to know.
create function pgjobs.jobs_status(of_jobs integer[] default null, with_times boolean default true)
returns table (
  job text,
  state text,
  workers integer,
  waiting bigint,
  oldest_wait interval,
  scheduled bigint,
  claimed bigint,
  running bigint,
  overdue bigint,
  completed_last_hour bigint,
  failed_last_hour bigint,
  cancelled_last_hour bigint,
  retried_last_hour bigint,
  wait_p50 double precision,
  wait_p95 double precision,
  run_p50 double precision,
  run_p95 double precision,
  job_id integer,
  pause_reason text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_now timestamptz := pgjobs._now();
  v_jobs integer[] := array(
    select j.id from pgjobs.jobs as j
    where j.deleted_at is null and (jobs_status.of_jobs is null or j.id = any (jobs_status.of_jobs))
      and (v_rooms is null or j.room = any (v_rooms))
  );
begin
  return query
  select
    j.full_name,
    case
      when j.archived_at is not null then 'archived'
      when j.paused_at is not null then 'paused'
      else 'open'
    end,
    (
      select count(*)::integer
      from pgjobs.worker_jobs as l
      join pgjobs.workers as w on w.id = l.worker_id
      where l.job_id = j.id and w.last_heartbeat_at >= v_now - (select s.worker_timeout from pgjobs.settings as s)
    ),
    d.waiting, pgjobs._elapsed(d.oldest_at, v_now), d.scheduled, d.claimed, d.running, d.overdue,
    coalesce(h.completed, e.completed, 0), coalesce(h.failed, e.failed, 0),
    coalesce(h.cancelled, e.cancelled, 0), coalesce(h.retried, e.retried, 0),
    h.wait_p50, h.wait_p95, h.run_p50, h.run_p95, j.id, j.pause_reason
  from pgjobs.jobs as j
  join pgjobs._depths(v_jobs) as d on d.job_id = j.id
  left join pgjobs._endings(case when not jobs_status.with_times then v_jobs end, v_now - interval '1 hour') as e
    on e.job_id = j.id
  left join pgjobs._rates(case when jobs_status.with_times then v_jobs end, v_now - interval '1 hour') as h
    on h.job_id = j.id
  order by j.full_name;
end
$$;

comment on function pgjobs.jobs_status is
  'Every job with what waits, runs and ended. Example: select job, state, waiting, running from pgjobs.jobs_status()';
