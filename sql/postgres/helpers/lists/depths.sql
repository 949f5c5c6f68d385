-- About how many rows of a table belong to each job, by the server's own
-- statistics: rows are tracked as they come and go, shares are sampled.
create function pgjobs._depth_estimates(relation text)
returns table (job_id integer, quantity bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rows bigint := pg_stat_get_live_tuples(to_regclass(quote_ident(_depth_estimates.relation)));
begin
  return query
  select v.job_id, round(v.share * v_rows)::bigint
  from pg_stats as s
  cross join unnest(s.most_common_vals::text::integer[], s.most_common_freqs) as v (job_id, share)
  where s.schemaname = 'pgjobs' and s.tablename = _depth_estimates.relation and s.attname = 'job_id';
end
$$;

comment on function pgjobs._depth_estimates is
  'About how many rows of a table belong to each job. Example: select * from pgjobs._depth_estimates(''ready'')';

-- What each job, or each of some, has in line, in the schedule and in hand. Lines are counted up
-- to a thousand, with more than twenty jobs up to twenty thousand over all of
-- them; what is longer is estimated, so that looking costs the same however much
-- waits.
create function pgjobs._depths(of_jobs integer[] default null)
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
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_silent uuid[] := array(
    select w.id from pgjobs.workers as w
    where w.last_heartbeat_at < v_now - (select s.worker_timeout from pgjobs.settings as s)
  );
  v_jobs integer[] := coalesce(_depths.of_jobs, array(select j.id from pgjobs.jobs as j where j.deleted_at is null));
  v_few integer := greatest(100, 20000 / greatest(20, cardinality(v_jobs)));
begin
  return query
  with held as materialized (
    select
      l.job_id,
      count(*) filter (where l.started_at is null) as claimed,
      count(*) filter (where l.started_at is not null) as running,
      -- One without an end lives by heartbeats.
      count(*) filter (where coalesce(l.until <= v_now, l.worker_id = any (v_silent))) as overdue
    from pgjobs.leases as l
    -- By the key: the pages of a busy table are mostly empty.
    where l.task_id > 0
    group by l.job_id
  ), counted as materialized (
    select
      j.id,
      (select count(*) from (select from pgjobs.ready as r where r.job_id = j.id limit v_few + 1) as f) as due,
      (select count(*) from (select from pgjobs.scheduled as s where s.job_id = j.id limit v_few + 1) as f) as later
    from unnest(v_jobs) as j (id)
  ), due_about as materialized (
    select e.job_id, e.quantity from pgjobs._depth_estimates('ready') as e
  ), later_about as materialized (
    select e.job_id, e.quantity from pgjobs._depth_estimates('scheduled') as e
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

comment on function pgjobs._depths is
  'How many tasks of each job are due, scheduled and leased. Example: select * from pgjobs._depths()';
