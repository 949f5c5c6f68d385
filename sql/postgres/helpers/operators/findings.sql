-- What is wrong with jobs: work that nobody will do, or that fails.
create function pgjobs._troubles_of_jobs(now timestamptz)
returns table (severity text, subject text, message text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_served integer[] := pgjobs._served_jobs(_troubles_of_jobs.now);
  -- Lines that move are nobody's trouble, and counting them is most of the work.
  v_standing integer[] := array(
    select j.id from pgjobs.jobs as j
    where j.deleted_at is null
      and (j.paused_at is not null or j.archived_at is not null or j.id <> all (v_served))
  );
begin
  return query
  with lines as materialized (
    select
      j.id, j.full_name, j.paused_at, j.pause_reason, j.archived_at, d.oldest_at,
      case d.waiting when 1 then '1 task waits' else d.waiting || ' tasks wait' end as waiting
    from pgjobs._depths(v_standing) as d
    join pgjobs.jobs as j on j.id = d.job_id
    where d.waiting > 0
  )
  select
    'warning', 'job ' || l.full_name,
    format('%s, the oldest for %s, and no worker serves the job', l.waiting, pgjobs._ago(l.oldest_at, now)),
    format('select * from pgjobs.waiting where job = %L', l.full_name)
  from lines as l
  where l.paused_at is null and l.archived_at is null and l.oldest_at < now - interval '1 minute'
    and l.id <> all (v_served)
    -- Of cleanups each node is told apart.
    and l.id is distinct from pgjobs._cleanup_job()
  union all
  select
    'info', 'job ' || l.full_name,
    format('%s; the job was %s %s ago%s', l.waiting,
      case when l.archived_at is null then 'paused' else 'archived' end, pgjobs._ago(coalesce(l.archived_at, l.paused_at), now),
      case when l.archived_at is null then coalesce(': ' || l.pause_reason, '') else '' end),
    format('select * from pgjobs.%s_job(%L)', case when l.archived_at is null then 'resume' else 'unarchive' end, l.full_name)
  from lines as l
  where l.paused_at is not null or l.archived_at is not null
  union all
  select
    'warning', 'job ' || j.full_name,
    format('%s of %s tasks that ended in the last hour failed', r.failed, r.failed + r.completed),
    format('select * from pgjobs.errors where job = %L', j.full_name)
  from pgjobs._endings(array(select k.id from pgjobs.jobs as k), now - interval '1 hour') as r
  join pgjobs.jobs as j on j.id = r.job_id
  where r.failed >= 10 and r.failed > r.completed;
end
$$;

comment on function pgjobs._troubles_of_jobs is 'What is wrong with jobs. Example: select * from pgjobs._troubles_of_jobs(pgjobs._now())';

-- What upkeep has left undone. A sweep every half minute leaves nothing for two.
create function pgjobs._troubles_of_upkeep(now timestamptz)
returns table (severity text, subject text, message text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_late timestamptz := now - interval '2 minutes';
begin
  return query
  select
    'error', 'sweep',
    case count(*) when 1 then '1 lease' else count(*) || ' leases' end || ' lapsed more than two minutes ago, not ended since',
    'select * from pgjobs.sweep()'
  from pgjobs.leases as l
  where l.task_id > 0 and l.until < v_late
  having count(*) > 0
  union all
  select
    'error', 'sweep',
    case count(*) when 1 then '1 worker' else count(*) || ' workers' end || ' silent for longer than allowed, not cleaned up since',
    'select * from pgjobs.sweep()'
  from pgjobs.workers as w
  where w.last_heartbeat_at < v_late - (select s.worker_timeout from pgjobs.settings as s)
  having count(*) > 0
  union all
  select
    'error', 'sweep', format('Tasks are overdue by %s and were not moved to the queue', pgjobs._ago(s.run_at, now)),
    'select * from pgjobs.sweep(''scheduled'')'
  from (select n.run_at from pgjobs.scheduled as n order by n.run_at limit 1) as s
  where s.run_at < v_late
  union all
  select
    'warning', 'task ' || l.task_id, format('Cancellation was requested %s ago; its worker has not stopped', pgjobs._ago(l.cancel_requested_at, now)),
    format('select * from pgjobs.cancel_task(%s, force => true)', l.task_id)
  from pgjobs.leases as l
  where l.task_id > 0 and l.cancel_requested_at < now - interval '10 minutes';
end
$$;

comment on function pgjobs._troubles_of_upkeep is
  'What upkeep has left undone. Example: select * from pgjobs._troubles_of_upkeep(pgjobs._now())';

-- What is wrong with schedules: runs that nobody starts, that cannot be, or that fail.
create function pgjobs._troubles_of_schedules(now timestamptz)
returns table (severity text, subject text, message text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  with known as materialized (
    select s.id, s.full_name, s.job, s.state, s.next_run_at, s.paused_at from pgjobs.schedule as s
  )
  select
    'error', 'schedule ' || s.full_name, format('Overdue by %s; no process is starting it', pgjobs._ago(s.next_run_at, now)),
    'select * from pgjobs.fire_schedules()'
  from known as s
  where s.next_run_at < now - interval '2 minutes'
  union all
  select
    'warning', 'schedule ' || s.full_name, format('Its runs are skipped: %s is %s', s.job, replace(s.state, 'job ', '')),
    format(
      case s.state when 'job archived' then 'select * from pgjobs.unarchive_job(%L)' else 'select * from pgjobs.pause_schedule(%2$L)' end,
      s.job, s.full_name
    )
  from known as s
  where s.state in ('job archived', 'job retired')
  union all
  select
    'warning', 'schedule ' || s.full_name, 'Its last three runs failed', format('select * from pgjobs.errors where job = %L', s.job)
  from known as s
  where s.paused_at is null
    and 3 = (
      select count(*)
      from (select n.task_id from pgjobs.schedule_runs as n where n.schedule_id = s.id order by n.id desc limit 3) as r
      join pgjobs.outcomes as o on o.task_id = r.task_id
      where o.status = 'failed'
    );
end
$$;

comment on function pgjobs._troubles_of_schedules is
  'What is wrong with schedules. Example: select * from pgjobs._troubles_of_schedules(pgjobs._now())';

-- Partitions that are missing: nothing stops for want of one, but the disk of what
-- has none is not given back.
create function pgjobs._troubles_of_partitions()
returns table (severity text, subject text, message text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_most bigint := 1000000000;
begin
  return query
  with tables as (
    select
      p.parent, max(p.upper) as highest, max(p.last_number) as last_number, bool_or(p.lower is null) as has_default,
      sum(pg_table_size(format('pgjobs.%I', p.partition)::regclass)) filter (where p.lower is null) as default_bytes
    from pgjobs._partitions() as p
    group by p.parent
  )
  select
    'warning', 'table ' || t.parent,
    format('Rows from number %s on have no partition of their own and are in %s_default', t.highest, t.parent),
    case
      when t.default_bytes > v_most then format(
        'select pgjobs._extend_partitions(%L, most_bytes => %s) -- acknowledgements wait while %s are read', t.parent,
        t.default_bytes * 2, pg_size_pretty(t.default_bytes))
      else 'select * from pgjobs.sweep(''storage'')'
    end
  from tables as t
  where t.last_number >= coalesce(t.highest, 0)
  union all
  select
    'error', 'table ' || t.parent, 'No default partition: without it tasks cannot end when another partition is missing',
    format('create table pgjobs.%I partition of pgjobs.%I default', t.parent || '_default', t.parent)
  from tables as t
  where not t.has_default;
end
$$;

comment on function pgjobs._troubles_of_partitions is
  'Partitions that are missing. Example: select * from pgjobs._troubles_of_partitions()';

-- How many synchronous standbys a commit waits for, and how many of them are there.
-- No row where commits wait for none.
--
-- Who may not read other sessions' statistics sees that a standby is connected, but not
-- whether it is synchronous: it is taken to be.
create function pgjobs._synchronous_standbys()
returns table (wanted integer, connected integer)
language sql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
  select
    coalesce((regexp_match(n.setting, '^\s*(first|any)?\s*(\d+)\s*\(', 'i'))[2]::integer, 1),
    (select count(*)::integer from pg_stat_replication as r where coalesce(r.sync_state, 'sync') in ('sync', 'quorum'))
  from pg_settings as n
  join pg_settings as c on c.name = 'synchronous_commit' and c.reset_val not in ('off', 'local')
  where n.name = 'synchronous_standby_names' and n.setting !~ '^\s*$'
$$;

comment on function pgjobs._synchronous_standbys is
  'How many synchronous standbys a commit waits for, and how many are connected. Example: select * from pgjobs._synchronous_standbys()';

-- What is wrong with the database under the queue.
create function pgjobs._troubles_of_database()
returns table (severity text, subject text, message text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select
    case when b.age > interval '1 hour' then 'error' else 'warning' end, b.kind || ' ' || b.name,
    format('Keeps dead rows from being removed%s', coalesce(' for ' || pgjobs._short_duration(extract(epoch from b.age)::double precision), '')),
    b.advice
  from pgjobs.blockers() as b
  where b.age > interval '10 minutes' or (b.age is null and b.held_back > 1000000)
  union all
  select
    'warning', 'table ' || s.relname,
    format('%s of its rows are dead: %s', to_char(100.0 * s.n_dead_tup / (s.n_live_tup + s.n_dead_tup), 'FM990%'), s.n_dead_tup),
    format('vacuum (analyze) pgjobs.%I', s.relname)
  from pg_stat_user_tables as s
  where s.schemaname = 'pgjobs' and s.n_dead_tup > 100000 and s.n_dead_tup > s.n_live_tup
  union all
  select
    'warning', 'table ' || c.relname, 'Autovacuum is switched off for it',
    format('alter table pgjobs.%I reset (autovacuum_enabled)', c.relname)
  from pg_class as c
  where c.relnamespace = to_regnamespace('pgjobs')
    and c.reloptions && array['autovacuum_enabled=off', 'autovacuum_enabled=false']
  union all
  select 'error', 'index ' || c.relname, 'The index is invalid and never used', format('reindex index concurrently pgjobs.%I', c.relname)
  from pg_index as i
  join pg_class as c on c.oid = i.indexrelid
  where c.relnamespace = to_regnamespace('pgjobs') and not i.indisvalid
  union all
  select
    case when q.used > 0.5 then 'error' else 'warning' end, 'notifications',
    format('The notification queue is %s full: a listening session does not read it', to_char(q.used * 100, 'FM990%')),
    'select pid, application_name, xact_start from pg_stat_activity where state <> ''idle'' order by xact_start'
  from (select pg_notification_queue_usage() as used) as q
  where q.used > 0.1
  union all
  select
    'error', 'server', format('%s is off: a crash can lose or damage tasks', s.name), format('alter system set %s = on', s.name)
  from pg_settings as s
  where s.name in ('fsync', 'full_page_writes') and s.setting = 'off'
  union all
  select
    'warning', 'server', format('%s is off: tables of the queue will bloat', s.name), format('alter system set %s = on', s.name)
  from pg_settings as s
  where s.name in ('autovacuum', 'track_counts') and s.setting = 'off'
  union all
  select
    'error', 'server',
    format(
      'synchronous_standby_names asks for %s, and %s connected: every submit and acknowledgement waits',
      case w.wanted when 1 then 'a standby' else w.wanted || ' standbys' end,
      case w.connected when 0 then 'none is' when 1 then 'only one is' else 'only ' || w.connected || ' are' end
    ),
    'alter system set synchronous_standby_names = ''''; select pg_reload_conf()'
  from pgjobs._synchronous_standbys() as w
  where w.connected < w.wanted
  union all
  select
    'info', 'server', 'This is a standby: it does not know of idle workers that are not registered, nor of cached answers of providers',
    'Ask the primary'
  where pg_is_in_recovery();
end
$$;

comment on function pgjobs._troubles_of_database is
  'What is wrong with the database. Example: select * from pgjobs._troubles_of_database()';
