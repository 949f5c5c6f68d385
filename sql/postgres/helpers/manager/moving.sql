-- Gives pending tasks another time, and tells which and when; tasks that were claimed meanwhile
-- are left out.
create function pgjobs._move_pending(
  task_ids bigint[], shift interval, run_at timestamptz, dry_run boolean, actor text, now timestamptz
)
returns table (task_id bigint, available_at timestamptz)
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids bigint[];
  v_times timestamptz[];
  v_errors text[];
  v_kinds text[];
  v_moved bigint[];
  v_job record;
begin
  select
    array_agg(t.id order by t.id), array_agg(coalesce(_move_pending.run_at, t.due_at + _move_pending.shift) order by t.id),
    array_agg(t.error order by t.id), array_agg(t.error_kind order by t.id)
  into v_ids, v_times, v_errors, v_kinds
  from unnest(_move_pending.task_ids) as i (id)
  cross join lateral (select v.* from pgjobs.task as v where v.id = i.id offset 0) as t
  where t.status = 'pending';
  if not dry_run then
    with moved as materialized (
      select p.task_id, p.job_id, p.priority, p.attempt, m.at, m.error, m.kind
      from pgjobs._take_pending(v_ids) as p
      join unnest(v_ids, v_times, v_errors, v_kinds) as m (id, at, error, kind) on m.id = p.task_id
    ), due as (
      insert into pgjobs.ready (job_id, priority, attempt, due_at, task_id, is_again, updated_at)
      select m.job_id, m.priority, m.attempt, m.at, m.task_id, true, _move_pending.now from moved as m where m.at <= _move_pending.now
    ), later as (
      insert into pgjobs.scheduled (task_id, run_at, job_id, priority, attempt, error, error_kind, updated_at)
      select m.task_id, m.at, m.job_id, m.priority, m.attempt, m.error, m.kind, _move_pending.now
      from moved as m
      where m.at > _move_pending.now
    )
    select array_agg(m.task_id) into v_moved from moved as m;
    perform pgjobs._floors_are_wrong();
    perform pgjobs._enter_keys(v_moved);
    perform pgjobs._record_actions(v_moved, 'rescheduled', 'pending', _move_pending.actor, null, _move_pending.now);
    for v_job in
      select t.job_id, count(*) as quantity from pgjobs.tasks as t where t.id = any (v_moved) group by t.job_id
    loop
      perform pgjobs._wake(v_job.job_id, v_job.quantity);
    end loop;
  end if;
  return query
  select m.id, m.at
  from unnest(v_ids, v_times) as m (id, at)
  where dry_run or m.id = any (v_moved)
  order by m.id;
end
$$;

comment on function pgjobs._move_pending is
  'Gives pending tasks another time. Example: see pgjobs.reschedule_generic_jobs, which chooses them';

-- Whether a queue is held: jobs that are registered in it are paused from the beginning.
create function pgjobs._hold_job()
returns trigger
language plpgsql
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  select q.since, coalesce(q.reason, 'The queue is held') into new.paused_at, new.pause_reason
  from pgjobs.queue_controls as q
  where q.room = new.room and q.category = new.category;
  return new;
end
$$;

comment on function pgjobs._hold_job is
  'Trigger: pauses jobs that come into a held queue. Example: fires on insert into pgjobs.jobs';

-- Fails tasks for good because of their age. One that was never claimed has no lease that an
-- outcome could name, so it is given one.
create function pgjobs._fail_expired(waiting bigint[], running bigint[], actor text, now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_held tid[];
  v_ended bigint[];
begin
  with taken as (
    select p.* from pgjobs._take_pending(_fail_expired.waiting) as p
  ), ended as (
    insert into pgjobs.outcomes (
      task_id, job_id, status, attempt, token, holder, ended_at, error, error_kind, actor
    )
    select
      t.task_id, t.job_id, 'failed', t.attempt, gen_random_uuid(), coalesce(_fail_expired.actor, 'ttl'), _fail_expired.now,
      'It waited too long', 'ttl', _fail_expired.actor
    from taken as t
    returning task_id
  )
  select array_agg(e.task_id) into v_ended from ended as e;
  perform pgjobs._announce_endings(v_ended);
  v_held := array(
    select l.ctid from pgjobs.leases as l where l.task_id = any (_fail_expired.running) order by l.task_id for update
  );
  perform pgjobs._end_attempts(v_held, null, array['It ran too long'], array['ttl'], array[false], _fail_expired.now);
end
$$;

comment on function pgjobs._fail_expired is
  'Fails tasks because of their age. Example: see pgjobs.expire_generic_jobs, which chooses them';
