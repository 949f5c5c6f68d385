-- The value below which a share of the measured ones lie, from the counts of
-- their buckets, in order; within a bucket they are taken to be spread evenly.
create function pgjobs.histogram_percentile(buckets smallint[], quantities bigint[], share double precision)
returns double precision
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_bounds double precision[] := pgjobs.histogram_bounds();
  v_total double precision := 0;
  v_below double precision := 0;
  v_lower double precision;
begin
  for v_place in 1..coalesce(cardinality(quantities), 0) loop
    v_total := v_total + quantities[v_place];
  end loop;
  for v_place in 1..coalesce(cardinality(quantities), 0) loop
    if v_below + quantities[v_place] >= share * v_total and quantities[v_place] > 0 then
      v_lower := coalesce(v_bounds[buckets[v_place]], 0);
      -- Whatever took longer than the last bound counts as that.
      return v_lower + (share * v_total - v_below) / quantities[v_place]
        * (coalesce(v_bounds[buckets[v_place] + 1], v_lower) - v_lower);
    end if;
    v_below := v_below + quantities[v_place];
  end loop;
  return null;
end
$$;

comment on function pgjobs.histogram_percentile is
  'A percentile, in seconds, from counted buckets. Example: select pgjobs.histogram_percentile(array[0, 4]::smallint[], array[90, 10], 0.95)';

-- What ended since a moment, in numbers: each job's, or all jobs' together (job_id 0).
create function pgjobs.rates(since timestamptz, of_job integer default null, by_job boolean default true)
returns table (
  job_id integer,
  completed bigint,
  failed bigint,
  cancelled bigint,
  retried bigint,
  wait_p50 double precision,
  wait_p95 double precision,
  run_p50 double precision,
  run_p95 double precision
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
  with counted as (
    select case when rates.by_job then r.job_id else 0 end as job_id, r.measure, r.bucket, sum(r.quantity)::bigint as quantity
    from pgjobs.rollups as r
    where r.minute >= date_trunc('minute', rates.since) and (rates.of_job is null or r.job_id = rates.of_job)
    group by 1, r.measure, r.bucket
  ), gathered as (
    select
      c.job_id,
      coalesce(sum(c.quantity) filter (where c.measure = 'completed'), 0)::bigint as completed,
      coalesce(sum(c.quantity) filter (where c.measure = 'failed'), 0)::bigint as failed,
      coalesce(sum(c.quantity) filter (where c.measure = 'cancelled'), 0)::bigint as cancelled,
      coalesce(sum(c.quantity) filter (where c.measure = 'retried'), 0)::bigint as retried,
      array_agg(c.bucket order by c.bucket) filter (where c.measure = 'latency') as waits,
      array_agg(c.quantity order by c.bucket) filter (where c.measure = 'latency') as waited,
      array_agg(c.bucket order by c.bucket) filter (where c.measure = 'duration') as runs,
      array_agg(c.quantity order by c.bucket) filter (where c.measure = 'duration') as ran
    from counted as c
    group by c.job_id
  )
  select
    g.job_id, g.completed, g.failed, g.cancelled, g.retried,
    pgjobs.histogram_percentile(g.waits, g.waited, 0.5), pgjobs.histogram_percentile(g.waits, g.waited, 0.95),
    pgjobs.histogram_percentile(g.runs, g.ran, 0.5), pgjobs.histogram_percentile(g.runs, g.ran, 0.95)
  from gathered as g;
end
$$;

comment on function pgjobs.rates is
  'What ended since a moment, by job. Example: select * from pgjobs.rates(pgjobs.now() - interval ''1 hour'')';

-- A duration as people say it, in seven characters at most: a column of `top` holds it.
create function pgjobs.short_duration(seconds double precision)
returns text
language sql immutable
return case
  when seconds is null then null
  when seconds < 1 then round(seconds * 1000) || ' ms'
  when seconds < 100 then round(seconds) || ' s'
  when seconds < 6000 then round(seconds / 60) || ' min'
  when seconds < 172800 then round(seconds / 3600) || ' h'
  else round(seconds / 86400) || ' d'
end;

comment on function pgjobs.short_duration is
  'A duration as people say it. Example: select pgjobs.short_duration(4000)';

-- Never negative: what committed a moment ago may be younger than `now`.
create function pgjobs.elapsed(since timestamptz, now timestamptz)
returns interval
language sql immutable
return case when since is not null then greatest(now - since, interval '0') end;

comment on function pgjobs.elapsed is
  'How long ago something was. Example: select pgjobs.elapsed(pgjobs.now() - interval ''1 hour'', pgjobs.now())';
