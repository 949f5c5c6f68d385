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
    returning u.*
  ), ended as materialized (
    select
      u.job_id, u.measure, o.task_id, date_trunc('minute', coalesce(o.ended_at, sweep_rollups.now)) as minute,
      extract(epoch from o.ended_at - o.claimed_at)::double precision as duration,
      extract(epoch from o.claimed_at - t.created_at)::double precision as latency
    from taken as u
    cross join unnest(u.task_ids) as i (task_id)
    left join pgjobs.outcomes as o on o.task_id = i.task_id and o.status = u.measure
    left join pgjobs.tasks as t on t.id = o.task_id
  ), measured (minute, job_id, measure, bucket, seconds) as (
    select e.minute, e.job_id, e.measure, 0::smallint, 0 from ended as e
    union all
    select e.minute, e.job_id, 'duration', pgjobs.histogram_bucket(e.duration), e.duration
    from ended as e
    where e.measure = 'completed' and e.duration is not null
    union all
    select e.minute, e.job_id, 'latency', pgjobs.histogram_bucket(e.latency), e.latency
    from ended as e
    where e.latency is not null
  ), summed as (
    select coalesce(m.minute, '-infinity') as minute, m.job_id, m.measure, m.bucket, count(*) as quantity, sum(m.seconds) as seconds
    from measured as m
    group by m.job_id, m.measure, m.bucket, rollup (m.minute)
  ), kept as (
    insert into pgjobs.rollups as r (minute, job_id, measure, bucket, quantity, seconds)
    select s.* from summed as s
    on conflict (minute, job_id, measure, bucket) do update
    set quantity = r.quantity + excluded.quantity, seconds = r.seconds + excluded.seconds
  )
  select count(*) into v_counted from ended;
  delete from pgjobs.rollups as r
  where r.minute > '-infinity'
    and r.minute < sweep_rollups.now - (select nullif(s.retain_events, interval '0') from pgjobs.settings as s);
  return v_counted;
end
$$;

comment on function pgjobs.sweep_rollups is
  'Counts endings into minutes. Example: select pgjobs.sweep_rollups(pgjobs.now(), 100000)';
