create function pgjobs._histogram_bounds()
returns double precision[]
language sql immutable parallel safe
return '{0.01,0.05,0.1,0.5,1,2.5,5,10,30,60,300,900,3600}'::double precision[];

comment on function pgjobs._histogram_bounds is
  'Upper bounds, in seconds, of all buckets but the last. Example: select pgjobs._histogram_bounds()';

-- How many bounds are below `seconds`: a bucket includes its upper bound.
create function pgjobs._histogram_bucket(seconds double precision)
returns smallint
language sql immutable parallel safe
return (13 - width_bucket(
  -seconds, '{-3600,-900,-300,-60,-30,-10,-5,-2.5,-1,-0.5,-0.1,-0.05,-0.01}'::double precision[]
))::smallint;

comment on function pgjobs._histogram_bucket is
  'The bucket of a duration, from 0. Example: select pgjobs._histogram_bucket(0.2)';

-- Counts by bucket, from the buckets that have any.
create function pgjobs._histogram(buckets smallint[], quantities bigint[])
returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_counts bigint[] := array_fill(0::bigint, array[14]);
begin
  for v_place in 1..coalesce(cardinality(buckets), 0) loop
    v_counts[buckets[v_place] + 1] := v_counts[buckets[v_place] + 1] + quantities[v_place];
  end loop;
  return v_counts;
end
$$;

comment on function pgjobs._histogram is
  'Counts by bucket. Example: select pgjobs._histogram(array[0, 4]::smallint[], array[90, 10])';

create function pgjobs._add_histograms(one bigint[], other bigint[])
returns bigint[]
language sql immutable
return array(select o.quantity + t.quantity
  from unnest(one) with ordinality as o (quantity, place)
  join unnest(other) with ordinality as t (quantity, place) using (place)
  order by place);

comment on function pgjobs._add_histograms is
  'The counts of two histograms together. Example: select pgjobs._add_histograms(array[1, 2], array[3, 4])';

-- Forgets minutes as old as forgotten events, an hour of them at a time: which they are
-- is seen by those of all jobs together.
create function pgjobs._forget_rollups(now timestamptz)
returns void
language plpgsql volatile
as $$
declare
  v_before timestamptz := _forget_rollups.now - (select nullif(s.retain_events, interval '0') from pgjobs.settings as s);
begin
  if exists (
    select from pgjobs.rollups as r
    where r.job_id = 0 and r.minute > '-infinity' and r.minute < v_before - interval '1 hour'
  ) then
    delete from pgjobs.rollups as r where r.minute > '-infinity' and r.minute < v_before;
  end if;
end
$$;

comment on function pgjobs._forget_rollups is
  'Forgets old minutes. Example: see pgjobs._sweep_rollups, which calls it';

-- Counts endings into their minutes, each job's and all jobs' together, and into all
-- time (minute -infinity).
--
-- One at a time: the rows of all time are everybody's. Whoever comes second has
-- nothing to do, rather than to wait.
create function pgjobs._sweep_rollups(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_counted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('pgjobs.rollups', 0)) then
    return 0;
  end if;
  with taken as (
    delete from pgjobs.uncounted as u
    where u.ctid = any (array(
      select c.ctid from pgjobs.uncounted as c limit _sweep_rollups.batch for update skip locked
    ))
    returning
      u.job_id, u.measure, pgjobs._known_moment(u.at) as at, date_trunc('minute', pgjobs._known_moment(u.at)) as minute,
      u.task_ids, u.claimed_at, u.due_at
  ), counted (minute, job_id, measure, bucket, quantity, seconds) as (
    select u.minute, u.job_id, u.measure, 0::smallint, sum(cardinality(u.task_ids)), 0
    from taken as u
    group by u.minute, u.job_id, u.measure
    union all
    select d.minute, d.job_id, 'run', pgjobs._histogram_bucket(d.seconds), count(*), sum(d.seconds)
    from (
      select u.minute, u.job_id, date_part('epoch', u.at - pgjobs._known_moment(c.claimed_at)) as seconds
      from taken as u
      cross join unnest(u.claimed_at) as c (claimed_at)
      where u.measure = 'completed'
    ) as d
    group by d.minute, d.job_id, pgjobs._histogram_bucket(d.seconds)
    union all
    select w.minute, w.job_id, w.measure, pgjobs._histogram_bucket(w.seconds), count(*), sum(w.seconds)
    from (
      select u.minute, u.job_id, m.measure, date_part('epoch', m.waited) as seconds
      from taken as u
      cross join unnest(u.task_ids, u.claimed_at, u.due_at) as c (task_id, claimed_at, due_at)
      join pgjobs.tasks as t on t.id = c.task_id
      -- A task submitted for a time in the past waits since it is there.
      cross join lateral (values
        ('wait', pgjobs._known_moment(c.claimed_at) - pgjobs._known_moment(greatest(c.due_at, t.created_at))),
        (
          case when u.measure <> 'retried' then 'age' end,
          pgjobs._known_moment(c.claimed_at) - pgjobs._known_moment(t.created_at)
        )
      ) as m (measure, waited)
      where c.claimed_at is not null and m.measure is not null
    ) as w
    group by w.minute, w.job_id, w.measure, pgjobs._histogram_bucket(w.seconds)
  ), kept as (
    insert into pgjobs.rollups as r (
      job_id, minute, completed, failed, cancelled, retried, waits, wait_seconds, runs, run_seconds, ages, age_seconds
    )
    select
      coalesce(c.job_id, 0),
      coalesce(c.minute, '-infinity'),
      coalesce(sum(c.quantity) filter (where c.measure = 'completed'), 0),
      coalesce(sum(c.quantity) filter (where c.measure = 'failed'), 0),
      coalesce(sum(c.quantity) filter (where c.measure = 'cancelled'), 0),
      coalesce(sum(c.quantity) filter (where c.measure = 'retried'), 0),
      pgjobs._histogram(
        array_agg(c.bucket) filter (where c.measure = 'wait'), array_agg(c.quantity) filter (where c.measure = 'wait')
      ),
      coalesce(sum(c.seconds) filter (where c.measure = 'wait'), 0),
      pgjobs._histogram(
        array_agg(c.bucket) filter (where c.measure = 'run'), array_agg(c.quantity) filter (where c.measure = 'run')
      ),
      coalesce(sum(c.seconds) filter (where c.measure = 'run'), 0),
      pgjobs._histogram(
        array_agg(c.bucket) filter (where c.measure = 'age'), array_agg(c.quantity) filter (where c.measure = 'age')
      ),
      coalesce(sum(c.seconds) filter (where c.measure = 'age'), 0)
    from counted as c
    group by grouping sets ((c.job_id, c.minute), (c.job_id), (c.minute))
    on conflict (job_id, minute) do update
    set
      completed = r.completed + excluded.completed,
      failed = r.failed + excluded.failed,
      cancelled = r.cancelled + excluded.cancelled,
      retried = r.retried + excluded.retried,
      waits = pgjobs._add_histograms(r.waits, excluded.waits),
      wait_seconds = r.wait_seconds + excluded.wait_seconds,
      runs = pgjobs._add_histograms(r.runs, excluded.runs),
      run_seconds = r.run_seconds + excluded.run_seconds,
      ages = pgjobs._add_histograms(r.ages, excluded.ages),
      age_seconds = r.age_seconds + excluded.age_seconds
  )
  select coalesce(sum(cardinality(u.task_ids)), 0) into v_counted from taken as u;
  perform pgjobs._forget_rollups(_sweep_rollups.now);
  return v_counted;
end
$$;

comment on function pgjobs._sweep_rollups is
  'Counts endings into minutes. Example: select pgjobs._sweep_rollups(pgjobs._now(), 100000)';

-- The attempt was kept by the statement that scheduled the next one.
create function pgjobs._note_retries()
returns trigger
language plpgsql
as $$
begin
  insert into pgjobs.uncounted (job_id, measure, at, task_ids, claimed_at, due_at)
  select n.job_id, 'retried', pgjobs._now(), array_agg(n.task_id), array_agg(a.claimed_at), array_agg(a.due_at)
  from new_rows as n
  left join lateral (
    select e.claimed_at, e.due_at from pgjobs.attempts as e where e.task_id = n.task_id order by e.id desc limit 1
  ) as a on true
  where n.error is not null
  group by n.job_id;
  return null;
end
$$;

comment on function pgjobs._note_retries is 'Trigger: notes retries for the rollups. Example: fires on insert into pgjobs.scheduled';
