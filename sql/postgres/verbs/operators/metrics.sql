-- The numbers of every job, one row each: what waits and runs now (queued,
-- backlog, processing, stale_processing; of those that wait the suspended ones, which sleep or wait
-- for a signal or for tasks they called, the blocked ones, whose parents have not ended, and the held
-- ones, of which a parent failed, counted up to ten thousand, where there are any), whether it is paused or archived (paused), how
-- many schedules run it and how many of them nobody starts (schedules, overdue_schedules,
-- where there are any), how many cleanups wait for somebody (cleanups_blocked, cleanups_abandoned,
-- cleanups_unserved, of the job that cleans up), and since the beginning what ended (completed, failed, cancelled,
-- retried) and how long it took: duration, from claim to completion; queue_latency, from due to
-- claim, of each attempt; latency, from submission to the last claim, as the generic manager's
-- document has it (with the upper bound of each bucket in `up_to`; how long together stands
-- with the last one).
--
-- Lines are counted up to a thousand for each job and estimated beyond; what ended
-- is what sweeps have counted.
create function pgjobs.metrics()
returns table (
  domain text,
  queue text,
  job_type text,
  measure text,
  up_to double precision,
  quantity bigint,
  seconds double precision
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_now timestamptz := pgjobs._now();
  v_cleanup integer := pgjobs._cleanup_job();
begin
  return query
  with due as (
    select s.job_id, count(*) as quantity
    from (select p.job_id from pgjobs.scheduled as p where p.run_at <= v_now order by p.run_at limit 10000) as s
    group by s.job_id
  ), ever as materialized (
    -- One probe for each job: their minutes lie between.
    select r.*
    from pgjobs.jobs as j
    cross join lateral (
      select e.* from pgjobs.rollups as e where e.job_id = j.id and e.minute = '-infinity' limit 1
    ) as r
  ), numbers (job_id, measure, up_to, quantity, seconds) as (
    select d.job_id, m.measure, null::double precision, m.quantity, 0::double precision
    from pgjobs._depths() as d
    left join due as p on p.job_id = d.job_id
    cross join lateral (values
      ('queued', d.waiting + d.scheduled), ('backlog', d.waiting + coalesce(p.quantity, 0)), ('processing', d.claimed + d.running),
      ('stale_processing', d.overdue), ('completed', 0), ('failed', 0), ('cancelled', 0), ('retried', 0)
    ) as m (measure, quantity)
    union all
    select w.job_id, w.measure, null, count(*), 0
    from (
      select s.job_id, case s.waits_for when 'parents' then 'blocked' when 'held' then 'held' else 'suspended' end as measure
      from pgjobs.scheduled as s
      where s.waits_for is not null
      limit 10000
    ) as w
    group by w.job_id, w.measure
    union all
    select j.id, 'paused', null, (j.paused_at is not null or j.archived_at is not null)::integer, 0
    from pgjobs.jobs as j
    where j.deleted_at is null
    union all
    select s.job_id, m.measure, null, m.quantity, 0
    from (
      select c.job_id, count(*) as quantity, count(*) filter (where c.next_run_at < v_now - interval '2 minutes') as overdue
      from pgjobs.schedules as c
      group by c.job_id
    ) as s
    cross join lateral (values ('schedules', s.quantity), ('overdue_schedules', s.overdue)) as m (measure, quantity)
    union all
    select v_cleanup, m.measure, null, m.quantity, 0
    from pgjobs._cleanups_in_need() as c
    cross join lateral (values
      ('cleanups_blocked', c.blocked), ('cleanups_abandoned', c.abandoned),
      ('cleanups_unserved', (select coalesce(sum(u.waiting), 0) from pgjobs._unserved_cleanups(v_now) as u))
    ) as m (measure, quantity)
    where v_cleanup is not null
    union all
    select r.job_id, m.measure, null, m.quantity, 0
    from ever as r
    cross join lateral (values
      ('completed', r.completed), ('failed', r.failed), ('cancelled', r.cancelled), ('retried', r.retried)
    ) as m (measure, quantity)
    union all
    select
      r.job_id, m.measure, coalesce((pgjobs._histogram_bounds())[c.place], 'Infinity'), c.quantity,
      case c.place when cardinality(m.counts) then m.seconds else 0 end
    from ever as r
    cross join lateral (values
      ('duration', r.runs, r.run_seconds), ('queue_latency', r.waits, r.wait_seconds), ('latency', r.ages, r.age_seconds)
    ) as m (measure, counts, seconds)
    cross join lateral unnest(m.counts) with ordinality as c (quantity, place)
    where c.quantity > 0 or c.place = cardinality(m.counts)
  )
  select j.room, j.category, j.name, n.measure, n.up_to, sum(n.quantity)::bigint, sum(n.seconds)
  from numbers as n
  join pgjobs.jobs as j on j.id = n.job_id
  where v_rooms is null or j.room = any (v_rooms)
  group by j.room, j.category, j.name, n.measure, n.up_to
  order by j.room, j.category, j.name, n.measure, n.up_to;
end
$$;

comment on function pgjobs.metrics is
  'The numbers of every job. Example: select domain, queue, job_type, quantity from pgjobs.metrics() where measure = ''backlog''';
