-- sweep(step text = null, batch integer = 1000, worker_timeout interval = null, internal_timeout interval = null)
--
-- One pass of upkeep, or one step of it, each a bounded batch. A `worker_timeout` or an
-- `internal_timeout` stands in for that of the settings. Endings are counted as they happen on SQLite
-- and there are no schedules, durable work or keys, so schedules, waits, sharing, rollups and errors have nothing to do.
select refuse(
  'validation-error', 'Unknown step, or batch not between 1 and 100000', null,
  'Steps: leases, workers, internal, schedules, scheduled, waits, sharing, reads, rollups, errors, retention, storage'
)
where :step not in (
    'leases', 'workers', 'internal', 'schedules', 'scheduled', 'waits', 'sharing', 'reads', 'rollups', 'errors', 'retention', 'storage'
  )
  or :batch not between 1 and 100000;
select refuse('validation-error', 'Timeouts must be longer than zero')
where :worker_timeout <= 0 or :internal_timeout <= 0;

-- Lapsed leases, and leases whose worker is gone. The plus keeps the order from
-- choosing the table over the index of leases.
select json_group_array(json_array(l.id, 'lease_expired', 'lease_expired', null)) as v_ending, count(*) as v_lapsed
from (
  select t.id
  from tasks as t
  where t.status in ('claimed', 'running')
    and coalesce(:step, 'leases') = 'leases'
    and (
      t.until <= now()
      or (t.worker_id is not null and not exists (select 1 from workers as w where w.id = t.worker_id))
    )
  order by +t.id
  limit :batch
) as l;
-- include end_attempts

-- Workers whose heartbeats stopped.
select json_group_array(s.id) as v_workers, count(*) as v_silent
from (
  select w.id
  from workers as w
  where w.last_heartbeat_at < now() - coalesce(:worker_timeout, (select c.worker_timeout from settings as c))
    and coalesce(:step, 'workers') = 'workers'
  order by w.id
  limit min(:batch, 100)
) as s;
-- include cleanup_workers
-- A task of a retired job may have been retried: nobody would ever claim it.
update jobs
set deleted_at = null
where deleted_at is not null
  and coalesce(:step, 'workers') = 'workers'
  and (
    exists (select 1 from tasks as t where t.job_id = jobs.id and t.is_ready)
    or exists (select 1 from tasks as t where t.job_id = jobs.id and t.status = 'pending' and not t.is_ready)
  );

-- @internal tasks that are claimed or running for too long, measured from their
-- start or, never started, from their submission.
select
  json_group_array(json_array(l.id, 'Internal worker timeout', 'internal_timeout', false)) as v_ending,
  count(*) as v_stuck
from (
  select t.id
  from tasks as t
  cross join jobs as j on j.id = t.job_id and j.room = '@internal'
  where t.status in ('claimed', 'running')
    and coalesce(:step, 'internal') = 'internal'
    and coalesce(t.started_at, t.created_at) < now()
      - coalesce(:internal_timeout, (select c.internal_timeout from settings as c))
  order by +t.id
  limit :batch
) as l;
-- include end_attempts

select iif(coalesce(:step, 'scheduled') = 'scheduled', :batch, 0) as v_batch;
-- include promote_due

-- Expired answers of providers, and questions that may be asked again.
select json_group_array(e.key) as v_expired, count(*) as v_expired_reads
from (
  select r.key from reads as r
  where r.expires_at <= now() and coalesce(:step, 'reads') = 'reads'
  limit :batch
) as e;
delete from reads where key in (select e.value from json_each(:v_expired) as e);
delete from reads_in_flight where expires_at <= now() and coalesce(:step, 'reads') = 'reads';

select
  iif(coalesce(:step, 'retention') = 'retention', :batch, 0) as v_batch,
  null as v_older_than,
  null as v_of_status,
  null as v_job,
  null as v_room,
  null as v_category;
-- include find_prunable
-- include remove_tasks
-- Events are numbered in order of time: only those to remove are looked at.
select now() - nullif(c.retain_events, 0) as v_events_since from settings as c;
delete from events
where id in (
  select e.id
  from events as e
  where e.id < coalesce(
    (select k.id from events as k where k.at >= :v_events_since order by k.id limit 1), 9223372036854775807
  )
    and :v_events_since is not null
  order by e.id
  limit :v_batch
);
delete from waiting where since < now() - 600000000 and :v_batch > 0;
delete from watched where since < now() - 3600000000 and :v_batch > 0;
delete from notifications where at < now() - 60000000 and :v_batch > 0;

-- Free pages go back to the file system, a bounded number; the pragma takes no parameter
-- and no condition.
select p.freelist_count as v_free_before from pragma_freelist_count as p;
pragma incremental_vacuum (250);

select s.column1 as swept, s.column2 as changed, null as error
from (values
  ('leases', :v_lapsed),
  ('workers', :v_silent),
  ('internal', :v_stuck),
  ('schedules', 0),
  ('scheduled', :v_promoted),
  ('waits', 0),
  ('sharing', 0),
  ('reads', :v_expired_reads),
  ('rollups', 0),
  ('errors', 0),
  ('retention', :v_pruned_tasks),
  ('storage', :v_free_before - (select p.freelist_count from pragma_freelist_count as p))
) as s
where s.column1 = coalesce(:step, s.column1);
