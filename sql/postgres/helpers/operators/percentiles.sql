-- The value below which a share of the measured ones lie; within a bucket they are
-- taken to be spread evenly.
create function pgjobs._histogram_percentile(counts bigint[], share double precision)
returns double precision
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_bounds double precision[] := pgjobs._histogram_bounds();
  v_sought double precision := 0;
  v_below double precision := 0;
  v_lower double precision;
begin
  for v_place in 1..cardinality(counts) loop
    v_sought := v_sought + share * counts[v_place];
  end loop;
  for v_place in 1..cardinality(counts) loop
    if counts[v_place] > 0 and v_below + counts[v_place] >= v_sought then
      v_lower := coalesce(v_bounds[v_place - 1], 0);
      -- Whatever took longer than the last bound counts as that.
      return v_lower + (v_sought - v_below) / counts[v_place] * (coalesce(v_bounds[v_place], v_lower) - v_lower);
    end if;
    v_below := v_below + counts[v_place];
  end loop;
  return null;
end
$$;

comment on function pgjobs._histogram_percentile is
  'A percentile, in seconds, from the counts of pgjobs._histogram_bounds(). Example: select pgjobs._histogram_percentile(array[0, 90, 10], 0.95)';

-- How much ended since a moment, by job; job 0 is all jobs together.
create function pgjobs._endings(job_ids integer[], since timestamptz)
returns table (job_id integer, completed bigint, failed bigint, cancelled bigint, retried bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_since timestamptz := date_trunc('minute', _endings.since);
begin
  return query
  select
    j.id, sum(r.completed)::bigint, sum(r.failed)::bigint, sum(r.cancelled)::bigint, sum(r.retried)::bigint
  from unnest(_endings.job_ids) as j (id)
  join pgjobs.rollups as r on r.job_id = j.id and r.minute >= v_since
  group by 1;
end
$$;

comment on function pgjobs._endings is
  'How much ended since a moment. Example: select completed, failed from pgjobs._endings(array[0], pgjobs._now() - interval ''1 hour'')';

-- What ended since a moment, by job and step of time; without a step in one row for
-- each job. Job 0 is all jobs together. Element by element, because an aggregate of
-- arrays would be called for each row.
create function pgjobs._tallies(job_ids integer[], since timestamptz, step interval default null)
returns table (
  job_id integer,
  start timestamptz,
  completed bigint,
  failed bigint,
  cancelled bigint,
  retried bigint,
  waits bigint[],
  runs bigint[]
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_since timestamptz := date_trunc('minute', _tallies.since);
begin
  return query
  select
    j.id, date_bin(_tallies.step, r.minute, 'epoch'),
    sum(r.completed)::bigint, sum(r.failed)::bigint, sum(r.cancelled)::bigint, sum(r.retried)::bigint,
    array[
      sum(r.waits[1]), sum(r.waits[2]), sum(r.waits[3]), sum(r.waits[4]), sum(r.waits[5]), sum(r.waits[6]), sum(r.waits[7]),
      sum(r.waits[8]), sum(r.waits[9]), sum(r.waits[10]), sum(r.waits[11]), sum(r.waits[12]), sum(r.waits[13]), sum(r.waits[14])
    ]::bigint[],
    array[
      sum(r.runs[1]), sum(r.runs[2]), sum(r.runs[3]), sum(r.runs[4]), sum(r.runs[5]), sum(r.runs[6]), sum(r.runs[7]),
      sum(r.runs[8]), sum(r.runs[9]), sum(r.runs[10]), sum(r.runs[11]), sum(r.runs[12]), sum(r.runs[13]), sum(r.runs[14])
    ]::bigint[]
  from unnest(_tallies.job_ids) as j (id)
  join pgjobs.rollups as r on r.job_id = j.id and r.minute >= v_since
  group by 1, 2;
end
$$;

comment on function pgjobs._tallies is
  'What ended since a moment. Example: select start, completed from pgjobs._tallies(array[0], pgjobs._now() - interval ''1 hour'', ''10 minutes'')';

-- The same with the values that half and 95 of 100 stayed below, in seconds.
create function pgjobs._rates(job_ids integer[], since timestamptz, step interval default null)
returns table (
  job_id integer,
  start timestamptz,
  completed bigint,
  failed bigint,
  cancelled bigint,
  retried bigint,
  wait_p50 double precision,
  wait_p95 double precision,
  run_p50 double precision,
  run_p95 double precision
)
language sql stable
as $$
select
  t.job_id, t.start, t.completed, t.failed, t.cancelled, t.retried,
  pgjobs._histogram_percentile(t.waits, 0.5), pgjobs._histogram_percentile(t.waits, 0.95),
  pgjobs._histogram_percentile(t.runs, 0.5), pgjobs._histogram_percentile(t.runs, 0.95)
from pgjobs._tallies(_rates.job_ids, _rates.since, _rates.step) as t
$$;

comment on function pgjobs._rates is
  'What ended since a moment, and how long it took. Example: select * from pgjobs._rates(array[0], pgjobs._now() - interval ''1 hour'')';

-- The same of some jobs together; of all, which are counted together, where no jobs are named.
create function pgjobs._rates_together(job_ids integer[], since timestamptz, step interval default null)
returns table (
  start timestamptz,
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
as $$
#variable_conflict use_column
begin
  if job_ids is null then
    return query
    select r.start, r.completed, r.failed, r.cancelled, r.retried, r.wait_p50, r.wait_p95, r.run_p50, r.run_p95
    from pgjobs._rates(array[0], _rates_together.since, _rates_together.step) as r;
    return;
  end if;
  return query
  with tallied as materialized (
    select t.* from pgjobs._tallies(_rates_together.job_ids, _rates_together.since, _rates_together.step) as t
  ), buckets as (
    select t.start, u.place, sum(u.waits)::bigint as waits, sum(u.runs)::bigint as runs
    from tallied as t
    cross join lateral unnest(t.waits, t.runs) with ordinality as u (waits, runs, place)
    group by t.start, u.place
  ), histograms as (
    select b.start, array_agg(b.waits order by b.place) as waits, array_agg(b.runs order by b.place) as runs
    from buckets as b
    group by b.start
  )
  select
    t.start, sum(t.completed)::bigint, sum(t.failed)::bigint, sum(t.cancelled)::bigint, sum(t.retried)::bigint,
    pgjobs._histogram_percentile(h.waits, 0.5), pgjobs._histogram_percentile(h.waits, 0.95),
    pgjobs._histogram_percentile(h.runs, 0.5), pgjobs._histogram_percentile(h.runs, 0.95)
  from tallied as t
  join histograms as h on h.start is not distinct from t.start
  group by t.start, h.waits, h.runs;
end
$$;

comment on function pgjobs._rates_together is
  'What ended since a moment, of some jobs together. Example: select * from pgjobs._rates_together(array[1, 2], pgjobs._now() - interval ''1 hour'')';

-- A duration as people say it, in seven characters at most: a column of `top` holds it.
create function pgjobs._short_duration(seconds double precision)
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

comment on function pgjobs._short_duration is
  'A duration as people say it. Example: select pgjobs._short_duration(4000)';

-- Never negative: what committed a moment ago may be younger than `now`.
create function pgjobs._elapsed(since timestamptz, now timestamptz)
returns interval
language sql immutable
return case when since is not null then greatest(now - pgjobs._known_moment(since), interval '0') end;

comment on function pgjobs._elapsed is
  'How long ago something was. Example: select pgjobs._elapsed(pgjobs._now() - interval ''1 hour'', pgjobs._now())';
