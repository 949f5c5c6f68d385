-- What ended in each step of time, the oldest first, and how long it took:
-- `wait` from submission to claim, `run` from claim to completion, in seconds.
-- Sweeps count, so the last half minute may be missing.
create function pgjobs.throughput(
  of_job text default null, since interval default '1 hour', step interval default '1 minute'
)
returns table (
  at timestamptz,
  completed bigint,
  failed bigint,
  cancelled bigint,
  retried bigint,
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
  v_now timestamptz := pgjobs._now();
  v_jobs integer[] := case
    when throughput.of_job is null then pgjobs._own_jobs()
    else array[(pgjobs._find_own_job(throughput.of_job)).id]
  end;
  v_first timestamptz;
begin
  if throughput.step is null or throughput.step < interval '1 minute' or throughput.since is null
    or throughput.since <= interval '0' or throughput.since > 1500 * throughput.step
  then
    perform pgjobs._refuse('validation-error', 'step must be a minute or more, and since at most 1500 steps');
  end if;
  v_first := date_bin(throughput.step, v_now - throughput.since, 'epoch');
  return query
  select
    s.start, coalesce(r.completed, 0), coalesce(r.failed, 0), coalesce(r.cancelled, 0), coalesce(r.retried, 0),
    r.wait_p50, r.wait_p95, r.run_p50, r.run_p95
  from generate_series(v_first, v_now, throughput.step) as s (start)
  left join pgjobs._rates_together(v_jobs, v_first, throughput.step) as r on r.start = s.start
  order by s.start;
end
$$;

comment on function pgjobs.throughput is
  'Throughput: what ended in each minute. Example: select * from pgjobs.throughput(since => ''1 day'', step => ''1 hour'')';
