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
set jit = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_job integer := case when throughput.of_job is not null then (pgjobs.find_job(throughput.of_job)).id end;
  v_first timestamptz;
begin
  if throughput.step is null or throughput.step < interval '1 minute' or throughput.since is null
    or throughput.since <= interval '0' or throughput.since > 1500 * throughput.step
  then
    perform pgjobs.refuse('validation-error', 'step must be a minute or more, and since at most 1500 steps');
  end if;
  v_first := date_bin(throughput.step, v_now - throughput.since, 'epoch');
  return query
  with counted as (
    select date_bin(throughput.step, r.minute, 'epoch') as start, r.measure, r.bucket, sum(r.quantity)::bigint as quantity
    from pgjobs.rollups as r
    where r.minute >= v_first and (v_job is null or r.job_id = v_job)
    group by 1, 2, 3
  ), gathered as (
    select
      c.start,
      sum(c.quantity) filter (where c.measure = 'completed')::bigint as completed,
      sum(c.quantity) filter (where c.measure = 'failed')::bigint as failed,
      sum(c.quantity) filter (where c.measure = 'cancelled')::bigint as cancelled,
      sum(c.quantity) filter (where c.measure = 'retried')::bigint as retried,
      array_agg(c.bucket order by c.bucket) filter (where c.measure = 'latency') as waits,
      array_agg(c.quantity order by c.bucket) filter (where c.measure = 'latency') as waited,
      array_agg(c.bucket order by c.bucket) filter (where c.measure = 'duration') as runs,
      array_agg(c.quantity order by c.bucket) filter (where c.measure = 'duration') as ran
    from counted as c
    group by c.start
  )
  select
    s.start, coalesce(g.completed, 0), coalesce(g.failed, 0), coalesce(g.cancelled, 0), coalesce(g.retried, 0),
    pgjobs.histogram_percentile(g.waits, g.waited, 0.5), pgjobs.histogram_percentile(g.waits, g.waited, 0.95),
    pgjobs.histogram_percentile(g.runs, g.ran, 0.5), pgjobs.histogram_percentile(g.runs, g.ran, 0.95)
  from generate_series(v_first, v_now, throughput.step) as s (start)
  left join gathered as g on g.start = s.start
  order by s.start;
end
$$;

comment on function pgjobs.throughput is
  'What ended in each minute. Example: select * from pgjobs.throughput(since => ''1 day'', step => ''1 hour'')';
