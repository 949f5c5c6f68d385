-- How much of a lane's table belongs to which job, by the server's own statistics.
create function pgjobs.depth_estimates(relation regclass)
returns table (job_id integer, quantity bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select v.job_id, round(v.share * greatest(pg_stat_get_live_tuples(c.oid), c.reltuples))::bigint
  from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  join pg_stats as s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'job_id'
  cross join unnest(s.most_common_vals::text::integer[], s.most_common_freqs) as v (job_id, share)
  where c.oid = depth_estimates.relation;
end
$$;

comment on function pgjobs.depth_estimates is
  'About how many rows of a table belong to each job. Example: select * from pgjobs.depth_estimates(''pgjobs.ready'')';

-- What each job has in line, in the schedule and in hand. Lines are counted up
-- to `exactly`; what is longer is estimated by the statistics of the server, so
-- that looking costs the same however much waits.
create function pgjobs.depths(exactly integer default 1000)
returns table (
  job_id integer,
  waiting bigint,
  oldest_at timestamptz,
  scheduled bigint,
  claimed bigint,
  running bigint,
  overdue bigint
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_few integer := depths.exactly;
begin
  return query
  with held as materialized (
    select
      l.job_id,
      count(*) filter (where l.started_at is null) as claimed,
      count(*) filter (where l.started_at is not null) as running,
      count(*) filter (where l.until <= v_now) as overdue
    from pgjobs.leases as l
    group by l.job_id
  ), counted as materialized (
    select
      j.id,
      (select count(*) from (select from pgjobs.ready as r where r.job_id = j.id limit v_few + 1) as f) as due,
      (select count(*) from (select from pgjobs.scheduled as s where s.job_id = j.id limit v_few + 1) as f) as later
    from pgjobs.jobs as j
    where j.deleted_at is null
  ), due_about as materialized (
    select e.job_id, e.quantity from pgjobs.depth_estimates('pgjobs.ready') as e
  ), later_about as materialized (
    select e.job_id, e.quantity from pgjobs.depth_estimates('pgjobs.scheduled') as e
  )
  select
    c.id,
    case when c.due <= v_few then c.due else greatest(c.due, (select e.quantity from due_about as e where e.job_id = c.id)) end,
    case when c.due > 0 then (
      select min(h.due_at)
      from (select distinct a.priority from pgjobs.lanes as a where a.job_id = c.id) as l
      cross join lateral (
        select r.due_at from pgjobs.ready as r
        where r.job_id = c.id and r.priority = l.priority
        order by r.due_at
        limit 1
      ) as h
    ) end,
    case when c.later <= v_few then c.later else greatest(c.later, (select e.quantity from later_about as e where e.job_id = c.id)) end,
    coalesce(h.claimed, 0), coalesce(h.running, 0), coalesce(h.overdue, 0)
  from counted as c
  left join held as h on h.job_id = c.id;
end
$$;

comment on function pgjobs.depths is
  'What each job has in line, in the schedule and in hand. Example: select * from pgjobs.depths()';
