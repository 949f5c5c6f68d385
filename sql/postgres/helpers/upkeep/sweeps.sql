-- Ends lapsed leases, and leases whose worker is gone: a claim can still be in
-- flight while its worker is cleaned up.
create function pgjobs._sweep_leases(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_held tid[];
begin
  perform pgjobs._count_unlimited();
  v_held := array(
    select l.ctid
    from pgjobs.leases as l
    where l.until <= _sweep_leases.now
      or (l.worker_id is not null and not exists (select from pgjobs.workers as w where w.id = l.worker_id))
    order by l.task_id
    limit _sweep_leases.batch
    for update skip locked
  );
  perform pgjobs._end_attempts(
    v_held, null, array['lease_expired'], array['lease_expired'], null, _sweep_leases.now
  );
  return cardinality(v_held);
end
$$;

comment on function pgjobs._sweep_leases is 'Ends lapsed leases. Example: select pgjobs._sweep_leases(pgjobs._now(), 1000)';

-- Cleans up workers whose heartbeats stopped. The row is locked before it is
-- judged, so a heartbeat that came first keeps its worker.
create function pgjobs._sweep_workers(now timestamptz, batch integer, worker_timeout interval default null)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_worker uuid;
  v_swept integer := 0;
begin
  for v_worker in
    select w.id
    from pgjobs.workers as w
    where w.last_heartbeat_at < _sweep_workers.now - coalesce(
      _sweep_workers.worker_timeout, (select s.worker_timeout from pgjobs.settings as s)
    )
    order by w.id
    limit least(_sweep_workers.batch, 100)
    for update skip locked
  loop
    perform from pgjobs._cleanup_worker(v_worker, _sweep_workers.now);
    v_swept := v_swept + 1;
  end loop;
  perform pgjobs._revive_jobs();
  return v_swept;
end
$$;

comment on function pgjobs._sweep_workers is 'Cleans up silent workers. Example: select pgjobs._sweep_workers(pgjobs._now(), 100)';

-- Fails @internal tasks that are claimed or running for too long, measured from
-- their start or, never started, from their submission.
create function pgjobs._sweep_internal(now timestamptz, batch integer, internal_timeout interval default null)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_held tid[];
begin
  v_held := array(
    select l.ctid
    from pgjobs.leases as l
    join pgjobs.jobs as j on j.id = l.job_id and j.room = '@internal'
    join pgjobs.tasks as t on t.id = l.task_id
    where coalesce(l.started_at, t.created_at)
      < _sweep_internal.now - coalesce(
        _sweep_internal.internal_timeout, (select s.internal_timeout from pgjobs.settings as s)
      )
    order by l.task_id
    limit _sweep_internal.batch
    for update of l skip locked
  );
  perform pgjobs._end_attempts(
    v_held, null, array['Internal worker timeout'], array['internal_timeout'], array[false], _sweep_internal.now
  );
  return cardinality(v_held);
end
$$;

comment on function pgjobs._sweep_internal is
  'Fails stuck @internal tasks. Example: select pgjobs._sweep_internal(pgjobs._now(), 1000)';

-- Removes what retention no longer keeps, and marks nobody came back for. Tells of
-- tasks or events, whichever were more, so that whoever has a full batch continues.
create function pgjobs._sweep_retention(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_tasks integer := (select count(*) from pgjobs.prune_tasks(batch => _sweep_retention.batch));
  v_events integer;
begin
  select pgjobs._prune_events(_sweep_retention.now - s.retain_events, _sweep_retention.batch) into v_events
  from pgjobs.settings as s
  where s.retain_events > interval '0';
  delete from pgjobs.lanes as l
  using pgjobs.lanes as other
  where other.job_id = l.job_id and other.priority = l.priority and other.ctid < l.ctid;
  delete from pgjobs.waiting_marks as w where w.since < _sweep_retention.now - interval '10 minutes';
  delete from pgjobs.watched as w where w.since < _sweep_retention.now - interval '1 hour';
  delete from pgjobs.cleaners as c where c.seen_at < _sweep_retention.now - interval '30 days';
  return greatest(v_tasks, v_events);
end
$$;

comment on function pgjobs._sweep_retention is
  'Removes what is no longer kept. Example: select pgjobs._sweep_retention(pgjobs._now(), 1000)';
