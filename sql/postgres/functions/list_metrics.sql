-- The numbers of every job, one row each: what waits and runs now (queued,
-- backlog, processing, stale_processing), and since the beginning what ended
-- (completed, failed, cancelled, retried) and how long it took (duration,
-- latency, with the upper bound of each bucket in `up_to`).
--
-- Counts what ended since the last sweep first, up to a bound, so that two
-- readers agree.
create function pgjobs.list_metrics()
returns table (
  domain text,
  queue text,
  job_type text,
  measure text,
  up_to double precision,
  quantity bigint,
  seconds double precision
)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
begin
  perform pgjobs.sweep_rollups(v_now, 2000);
  return query
  with numbers (job_id, measure, up_to, quantity, seconds) as (
    select j.id, m.measure, null::double precision, 0::bigint, 0::double precision
    from pgjobs.jobs as j
    cross join unnest(array[
      'queued', 'backlog', 'processing', 'stale_processing', 'completed', 'failed', 'cancelled', 'retried'
    ]) as m (measure)
    where j.deleted_at is null
    union all
    select r.job_id, m.measure, null, count(*), 0
    from pgjobs.ready as r
    cross join (values ('queued'), ('backlog')) as m (measure)
    group by r.job_id, m.measure
    union all
    select s.job_id, 'queued', null, count(*), 0 from pgjobs.scheduled as s group by s.job_id
    union all
    select s.job_id, 'backlog', null, count(*), 0 from pgjobs.scheduled as s where s.run_at <= v_now group by s.job_id
    union all
    select l.job_id, 'processing', null, count(*), 0 from pgjobs.leases as l group by l.job_id
    union all
    select l.job_id, 'stale_processing', null, count(*), 0 from pgjobs.leases as l where l.until <= v_now group by l.job_id
    union all
    select
      r.job_id, r.measure,
      case when r.measure in ('duration', 'latency')
        then coalesce((pgjobs.histogram_bounds())[r.bucket + 1], 'Infinity') end,
      r.quantity, r.seconds
    from pgjobs.rollups as r
    where r.minute = '-infinity'
  )
  select j.room, j.category, j.name, n.measure, n.up_to, sum(n.quantity)::bigint, sum(n.seconds)
  from numbers as n
  join pgjobs.jobs as j on j.id = n.job_id
  group by j.room, j.category, j.name, n.measure, n.up_to
  order by j.room, j.category, j.name, n.measure, n.up_to;
end
$$;

comment on function pgjobs.list_metrics is
  'The numbers of every job. Example: select domain, queue, job_type, quantity from pgjobs.list_metrics() where measure = ''backlog''';
