create function pgjobs.histogram_bounds()
returns double precision[]
language sql immutable parallel safe
return '{0.01,0.05,0.1,0.5,1,2.5,5,10,30,60,300,900,3600}'::double precision[];

comment on function pgjobs.histogram_bounds is
  'Upper bounds, in seconds, of all buckets but the last. Example: select pgjobs.histogram_bounds()';

-- How many bounds are below `seconds`: a bucket includes its upper bound.
create function pgjobs.histogram_bucket(seconds double precision)
returns smallint
language sql immutable parallel safe
return (13 - width_bucket(
  -seconds, '{-3600,-900,-300,-60,-30,-10,-5,-2.5,-1,-0.5,-0.1,-0.05,-0.01}'::double precision[]
))::smallint;

comment on function pgjobs.histogram_bucket is
  'The bucket of a duration, from 0. Example: select pgjobs.histogram_bucket(0.2)';

-- Counts endings into their minutes and into all time (minute -infinity), and
-- forgets minutes as old as forgotten events.
--
-- One at a time: the rows of all time are everybody's. Whoever comes second has
-- nothing to do, rather than to wait.
create function pgjobs.sweep_rollups(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
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
      select c.ctid from pgjobs.uncounted as c limit sweep_rollups.batch for update skip locked
    ))
    returning u.job_id, u.measure, u.at, date_trunc('minute', u.at) as minute, u.task_ids, u.claimed_at
  ), counted (minute, job_id, measure, bucket, quantity, seconds) as (
    select u.minute, u.job_id, u.measure, 0::smallint, sum(cardinality(u.task_ids)), 0
    from taken as u
    group by u.minute, u.job_id, u.measure
    union all
    select d.minute, d.job_id, 'duration', pgjobs.histogram_bucket(d.seconds), count(*), sum(d.seconds)
    from (
      select u.minute, u.job_id, date_part('epoch', u.at - c.claimed_at) as seconds
      from taken as u
      cross join unnest(u.claimed_at) as c (claimed_at)
      where u.measure = 'completed'
    ) as d
    group by d.minute, d.job_id, pgjobs.histogram_bucket(d.seconds)
    union all
    select w.minute, w.job_id, 'latency', pgjobs.histogram_bucket(w.seconds), count(*), sum(w.seconds)
    from (
      select u.minute, u.job_id, date_part('epoch', c.claimed_at - t.created_at) as seconds
      from taken as u
      cross join unnest(u.task_ids, u.claimed_at) as c (task_id, claimed_at)
      join pgjobs.tasks as t on t.id = c.task_id
      where c.claimed_at is not null
    ) as w
    group by w.minute, w.job_id, pgjobs.histogram_bucket(w.seconds)
  ), kept as (
    insert into pgjobs.rollups as r (minute, job_id, measure, bucket, quantity, seconds)
    select coalesce(c.minute, '-infinity'), c.job_id, c.measure, c.bucket, sum(c.quantity), sum(c.seconds)
    from counted as c
    group by c.job_id, c.measure, c.bucket, rollup (c.minute)
    on conflict (minute, job_id, measure, bucket) do update
    set quantity = r.quantity + excluded.quantity, seconds = r.seconds + excluded.seconds
  )
  select coalesce(sum(cardinality(u.task_ids)), 0) into v_counted from taken as u;
  delete from pgjobs.rollups as r
  where r.minute > '-infinity'
    and r.minute < sweep_rollups.now - (select nullif(s.retain_events, interval '0') from pgjobs.settings as s);
  return v_counted;
end
$$;

comment on function pgjobs.sweep_rollups is
  'Counts endings into minutes. Example: select pgjobs.sweep_rollups(pgjobs.now(), 100000)';

create function pgjobs.note_retries()
returns trigger
language plpgsql
as $$
begin
  insert into pgjobs.uncounted (job_id, measure, at, task_ids)
  select n.job_id, 'retried', pgjobs.now(), array_agg(n.task_id)
  from new_rows as n
  where n.error is not null
  group by n.job_id;
  return null;
end
$$;

comment on function pgjobs.note_retries is 'Trigger: notes retries for the rollups. Example: fires on insert into pgjobs.scheduled';
