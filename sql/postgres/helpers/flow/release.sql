-- Releases what waited for tasks that have ended: a bounded step, for whoever claims next and
-- for sweeps. Children go in order of number, and those that others hold are passed by: then
-- the note stays. What is cancelled here settles further tasks, which go in the same step.
create function pgjobs._release_settled(now timestamptz, batch integer default 500)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_clock bigint := pgjobs._clock_ms();
  v_floor bigint := (pgjobs._floor_get('settled', v_clock))[1];
  v_head bigint;
  v_has_rechecks boolean;
  v_left integer := _release_settled.batch;
  v_done integer;
begin
  select
    (select n.id from pgjobs.settled as n where n.id >= coalesce(v_floor, 0) order by n.id limit 1),
    exists (select from pgjobs.rechecks as r where r.stamp is null)
      or exists (select from pgjobs.rechecks as r where r.stamp <= pg_snapshot_xmin(pg_current_snapshot()))
  into v_head, v_has_rechecks;
  if v_floor is null then
    perform pgjobs._floor_set('settled', coalesce(v_head, (select s.last_value from pgjobs.settled_id_seq as s)), v_clock + 1000);
  end if;
  if (v_head is null and not v_has_rechecks) or current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  if v_has_rechecks then
    perform pgjobs._stamp_rechecks();
  end if;
  while v_left > 0 loop
    v_done := pgjobs._release_some(coalesce(v_head, 0), v_left, _release_settled.now);
    exit when v_done = 0;
    v_left := v_left - v_done;
  end loop;
  if v_has_rechecks then
    v_left := v_left - pgjobs._recheck_blocked(_release_settled.now);
  end if;
  return _release_settled.batch - v_left;
end
$$;

comment on function pgjobs._release_settled is
  'Releases what waited for tasks that have ended. Example: select pgjobs._release_settled(pgjobs._now())';

-- Takes up to a hundred notes from `head` on; how many tasks wait no longer, or notes are done.
create function pgjobs._release_some(head bigint, batch integer, now timestamptz)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_note record;
  v_children bigint[];
  v_done integer := 0;
begin
  for v_note in
    select n.id, n.after_id
    from pgjobs.settled as n
    where n.id >= _release_some.head
    order by n.id
    limit least(_release_some.batch, 100)
    for update skip locked
  loop
    v_children := pgjobs._lock_children_to_cancel(v_note.after_id, _release_some.batch);
    if v_children <> '{}' then
      perform pgjobs._cancel_children(v_children, array_fill(v_note.after_id, array[cardinality(v_children)]), _release_some.now);
      v_done := v_done + cardinality(v_children);
    end if;
    v_children := array(
      select s.task_id from pgjobs.scheduled as s
      where s.blocked_by = v_note.after_id
      order by s.task_id
      limit _release_some.batch
      for update skip locked
    );
    if v_children <> '{}' then
      v_done := v_done + pgjobs._settle(v_children, _release_some.now);
    end if;
    -- What is left was held by somebody who may not have seen this end, or is for the next step.
    if not exists (select from pgjobs.scheduled as s where s.blocked_by = v_note.after_id and s.waits_for <> 'held')
      and not pgjobs._has_children_to_cancel(v_note.after_id)
    then
      delete from pgjobs.settled as n where n.id = v_note.id;
      v_done := v_done + 1;
    end if;
    exit when v_done >= _release_some.batch;
  end loop;
  return v_done;
end
$$;

comment on function pgjobs._release_some is
  'Releases what waited for some tasks that have ended. Example: see pgjobs._release_settled, which repeats it';

-- Children that a parent which did not complete cancels, though others of their parents may run.
create function pgjobs._children_to_cancel(after_id bigint)
returns table (task_id bigint)
language sql stable
as $$
  select s.task_id
  from pgjobs.dependencies as d
  join pgjobs.scheduled as s on s.task_id = d.task_id and s.waits_for in ('parents', 'held')
  where d.after_id = _children_to_cancel.after_id and d.kind = 'parent' and d.on_failure = 'cancel'
    and not pgjobs._is_unfinished(d.after_id)
    and not exists (
      select from pgjobs.outcomes as o where o.task_id = _children_to_cancel.after_id and o.status = 'completed'
    )
$$;

comment on function pgjobs._children_to_cancel is
  'Children that a failed parent cancels. Example: select * from pgjobs._children_to_cancel(42)';

create function pgjobs._has_children_to_cancel(after_id bigint)
returns boolean
language plpgsql volatile
as $$
begin
  return exists (select from pgjobs._children_to_cancel(_has_children_to_cancel.after_id));
end
$$;

comment on function pgjobs._has_children_to_cancel is
  'Whether a failed parent cancels any. Example: select pgjobs._has_children_to_cancel(42)';

create function pgjobs._lock_children_to_cancel(after_id bigint, batch integer)
returns bigint[]
language plpgsql volatile
as $$
begin
  return array(
    select s.task_id from pgjobs.scheduled as s
    where s.task_id in (select c.task_id from pgjobs._children_to_cancel(_lock_children_to_cancel.after_id) as c)
    order by s.task_id
    limit _lock_children_to_cancel.batch
    for update skip locked
  );
end
$$;

comment on function pgjobs._lock_children_to_cancel is
  'Locks children that a failed parent cancels. Example: see pgjobs._release_some, which cancels them';

-- Stamps new notes with this transaction's number, if it is drawn only now, by a statement that
-- sees them: whoever wrote an outcome without seeing the blocked tasks had theirs before. A number
-- drawn earlier says nothing of them, as in a caller's transaction, or beside the note itself; nor
-- does the end of a snapshot, which is the newest number that is over, not the newest of all.
create function pgjobs._stamp_rechecks()
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if pg_current_xact_id_if_assigned() is null then
    update pgjobs.rechecks as r
    set stamp = pg_current_xact_id()
    where r.id = any (array(
      select n.id from pgjobs.rechecks as n where n.stamp is null order by n.id limit 100 for update skip locked
    ));
  end if;
end
$$;

comment on function pgjobs._stamp_rechecks is
  'Says from when on nobody can have missed a blocked task. Example: see pgjobs._release_settled, which calls it first';

-- Once all transactions below a stamp are over, their outcomes can be seen: the tasks are looked
-- at again, and the note may go.
create function pgjobs._recheck_blocked(now timestamptz)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_note record;
  v_done integer := 0;
begin
  for v_note in
    select n.id, n.task_ids
    from pgjobs.rechecks as n
    where n.stamp <= pg_snapshot_xmin(pg_current_snapshot())
    order by n.stamp
    limit 20
    for update skip locked
  loop
    v_done := v_done + pgjobs._settle(pgjobs._lock_waiting(pgjobs._stale(v_note.task_ids)), _recheck_blocked.now);
    if pgjobs._stale(v_note.task_ids) = '{}' then
      delete from pgjobs.rechecks as n where n.id = v_note.id;
    end if;
  end loop;
  return v_done;
end
$$;

comment on function pgjobs._recheck_blocked is
  'Looks again at tasks whose parents may have ended unseen. Example: select pgjobs._recheck_blocked(pgjobs._now())';

-- Which of these tasks wait for one that has ended.
create function pgjobs._stale(task_ids bigint[])
returns bigint[]
language plpgsql volatile
as $$
begin
  return array(
    select s.task_id from pgjobs.scheduled as s
    where s.task_id = any (_stale.task_ids) and s.waits_for in ('parents', 'calls')
      and (s.blocked_by is null or not pgjobs._is_unfinished(s.blocked_by))
  );
end
$$;

comment on function pgjobs._stale is 'Which tasks wait for one that has ended. Example: select pgjobs._stale(array[42])';

-- The net: looks at everything that is blocked, a part in each sweep, so that a mistake
-- elsewhere is a delay and not a loss. Workflows without tasks go with their last one.
create function pgjobs._sweep_waits(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_seen bigint := coalesce(nullif(current_setting('pgjobs.waits_seen', true), ''), '0')::bigint;
  v_part bigint[];
  v_released integer;
begin
  if not pgjobs._are_dependencies_used() or current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  v_released := pgjobs._release_settled(_sweep_waits.now, _sweep_waits.batch);
  v_part := array(
    select s.blocked_by from pgjobs.scheduled as s
    where s.blocked_by > v_seen
    order by s.blocked_by, s.task_id
    limit _sweep_waits.batch * 10
  );
  perform set_config('pgjobs.waits_seen',
    case when cardinality(v_part) < _sweep_waits.batch * 10 then '0' else v_part[cardinality(v_part)]::text end, false);
  return v_released + pgjobs._settle(pgjobs._lock_waiting(pgjobs._stale(array(
    select s.task_id from pgjobs.scheduled as s
    where s.blocked_by between v_part[1] and v_part[cardinality(v_part)]
  ))), _sweep_waits.now);
end
$$;

comment on function pgjobs._sweep_waits is
  'Releases what waits for tasks that have ended. Example: select pgjobs._sweep_waits(pgjobs._now(), 1000)';
