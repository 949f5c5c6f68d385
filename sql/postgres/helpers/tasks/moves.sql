-- The tasks an operator names, in that order; null stands for a public id that this
-- queue never gave out.
create function pgjobs._named_tasks(task_ids bigint[], task_uuids uuid[])
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if num_nulls(_named_tasks.task_ids, _named_tasks.task_uuids) <> 1
    or coalesce(cardinality(_named_tasks.task_ids), cardinality(_named_tasks.task_uuids)) > 1000
  then
    perform pgjobs._refuse('validation-error', 'Name at most 1000 tasks, by number or by public id');
  end if;
  return coalesce(_named_tasks.task_ids, array(
    select pgjobs.task_id(u.task_uuid) from unnest(_named_tasks.task_uuids) with ordinality as u (task_uuid, place) order by u.place
  ));
end
$$;

comment on function pgjobs._named_tasks is
  'The tasks an operator names. Example: select pgjobs._named_tasks(array[41, 42], null)';

-- In order of number and each once: whoever takes several takes them in this order.
create function pgjobs._ids_sorted(task_ids bigint[])
returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return array(select distinct i.id from unnest(_ids_sorted.task_ids) as i (id) where i.id is not null order by i.id);
end
$$;

comment on function pgjobs._ids_sorted is 'Tasks in order of number. Example: select pgjobs._ids_sorted(array[2, 1, 2])';

create function pgjobs._ids_except(task_ids bigint[], done bigint[])
returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return array(select i.id from unnest(_ids_except.task_ids) as i (id) where i.id <> all (coalesce(_ids_except.done, '{}')) order by i.id);
end
$$;

comment on function pgjobs._ids_except is 'Tasks that are still to do. Example: select pgjobs._ids_except(array[1, 2], array[1])';

-- Takes pending tasks out of their lanes or the schedule; no row for one that is not pending.
--
-- A task may be promoted between the looks, so they are repeated. A claim in
-- flight makes the delete wait and then find nothing.
create function pgjobs._take_pending(task_ids bigint[])
returns table (task_id bigint, job_id integer, priority smallint, attempt smallint)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_found bigint;
  v_total bigint := 0;
begin
  for v_try in 1..3 loop
    return query
    delete from pgjobs.ready as r
    using pgjobs.tasks as t
    where t.id = any (_take_pending.task_ids)
      and r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
    returning r.task_id, r.job_id, r.priority, r.attempt;
    get diagnostics v_found = row_count;
    v_total := v_total + v_found;
    exit when v_total = cardinality(_take_pending.task_ids);
    return query
    delete from pgjobs.ready as r
    where r.task_id = any (_take_pending.task_ids) and r.is_again
    returning r.task_id, r.job_id, r.priority, r.attempt;
    get diagnostics v_found = row_count;
    v_total := v_total + v_found;
    exit when v_total = cardinality(_take_pending.task_ids);
    return query
    delete from pgjobs.scheduled as s
    where s.task_id = any (_take_pending.task_ids)
    returning s.task_id, s.job_id, s.priority, s.attempt;
    get diagnostics v_found = row_count;
    v_total := v_total + v_found;
    exit when v_total = cardinality(_take_pending.task_ids);
  end loop;
end
$$;

comment on function pgjobs._take_pending is
  'Takes pending tasks out of the queue. Example: see pgjobs.cancel_tasks, which gives them a new home';

-- Takes the outcomes of ended tasks away and keeps them in the attempt history; no
-- row for a task that has none of these statuses.
create function pgjobs._take_outcomes(task_ids bigint[], statuses text[])
returns table (task_id bigint, job_id integer, attempt smallint)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  return query
  with gone as (
    delete from pgjobs.outcomes as o
    where o.task_id = any (_take_outcomes.task_ids) and o.status = any (_take_outcomes.statuses)
      -- The range lets the partitions of other tasks be passed by.
      and o.task_id between _take_outcomes.task_ids[1] and _take_outcomes.task_ids[cardinality(_take_outcomes.task_ids)]
    returning o.*
  ), kept as (
    insert into pgjobs.attempts (
      task_id, attempt, status, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, error, error_kind,
      reason
    )
    select
      g.task_id, g.attempt, g.status, g.token, g.worker_id, g.holder, g.due_at, g.claimed_at, g.started_at, g.ended_at,
      g.error, g.error_kind, g.reason
    from gone as g
  )
  select g.task_id, g.job_id, g.attempt from gone as g;
end
$$;

comment on function pgjobs._take_outcomes is
  'Moves outcomes into the attempt history. Example: see pgjobs.retry_tasks, which starts tasks over';

-- Puts tasks in line from scratch: due now, no attempts used. Those whose parents have not
-- ended wait for them.
create function pgjobs._enter_lanes(task_ids bigint[], now timestamptz)
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_entered record;
  v_blocked bigint[] := case
    when pgjobs._are_dependencies_used() then pgjobs._block_again(_enter_lanes.task_ids, _enter_lanes.now) else '{}'
  end;
begin
  for v_entered in
    with entered as (
      insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again, updated_at)
      select t.job_id, t.priority, _enter_lanes.now, t.id, true, _enter_lanes.now
      from pgjobs.tasks as t
      where t.id = any (_enter_lanes.task_ids) and t.id <> all (v_blocked)
      returning job_id, task_id
    )
    select e.job_id, count(*) as quantity, array_agg(e.task_id) as task_ids from entered as e group by e.job_id
  loop
    perform pgjobs._tell_returned(v_entered.task_ids, 'due');
    perform pgjobs._wake(v_entered.job_id, v_entered.quantity);
  end loop;
  perform pgjobs._enter_keys(_enter_lanes.task_ids);
end
$$;

comment on function pgjobs._enter_lanes is
  'Puts tasks into the queue. Example: see pgjobs.unignore_tasks, which found them ignored';

-- Locks whatever leases there are of these tasks, in order of task so that two callers cannot deadlock.
create function pgjobs._lock_tasks(task_ids bigint[])
returns void
language plpgsql volatile
as $$
begin
  perform from pgjobs.leases as l where l.task_id = any (_lock_tasks.task_ids) order by l.task_id for update;
end
$$;

comment on function pgjobs._lock_tasks is
  'Locks the leases of tasks. Example: see pgjobs._end_leases, which then deletes them';

-- Cancels what holders have in hand, whatever they think of it.
create function pgjobs._end_leases(task_ids bigint[], reason text, actor text, now timestamptz)
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_ended bigint[];
begin
  perform pgjobs._lock_tasks(_end_leases.task_ids);
  with gone as (
    delete from pgjobs.leases as l where l.task_id = any (_end_leases.task_ids) returning l.*
  ), ended as (
    insert into pgjobs.outcomes (
      task_id, job_id, status, attempt, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, reason, actor
    )
    select
      g.task_id, g.job_id, 'cancelled', g.attempt, g.token, g.worker_id, g.holder, g.due_at, g.claimed_at, g.started_at,
      _end_leases.now, coalesce(_end_leases.reason, g.cancel_reason), _end_leases.actor
    from gone as g
    returning task_id
  )
  select array_agg(e.task_id) into v_ended from ended as e;
  perform pgjobs._announce_endings(v_ended);
  return v_ended;
end
$$;

comment on function pgjobs._end_leases is
  'Cancels leased tasks. Example: see pgjobs.cancel_tasks, which is told to force it';

create function pgjobs._ask_to_stop(task_ids bigint[], reason text, now timestamptz)
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_asked bigint[];
begin
  perform pgjobs._lock_tasks(_ask_to_stop.task_ids);
  with asked as (
    update pgjobs.leases as l
    set
      cancel_requested_at = coalesce(l.cancel_requested_at, _ask_to_stop.now),
      cancel_reason = coalesce(_ask_to_stop.reason, l.cancel_reason),
      updated_at = _ask_to_stop.now
    where l.task_id = any (_ask_to_stop.task_ids)
    returning l.task_id
  )
  select array_agg(a.task_id) into v_asked from asked as a;
  return v_asked;
end
$$;

comment on function pgjobs._ask_to_stop is
  'Asks the holders of tasks to stop. Example: see pgjobs.cancel_tasks, which ends what nobody holds';

-- How a step went for each of the named tasks, in that order.
create function pgjobs._answered_step(task_ids bigint[], done bigint[])
returns table (task_id bigint, status text, problem text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_known bigint[] := pgjobs._tasks_in_reach(_answered_step.task_ids);
begin
  return query
  select
    i.id, t.status,
    case
      when t.id is null then 'PJ002'
      when i.id <> all (coalesce(_answered_step.done, '{}')) then 'PJ006'
    end
  from unnest(_answered_step.task_ids) with ordinality as i (id, place)
  left join pgjobs.task as t on t.id = i.id and i.id = any (v_known)
  order by i.place;
end
$$;

comment on function pgjobs._answered_step is
  'The result of an action for each task. Example: select * from pgjobs._answered_step(array[41, 42], array[42])';

-- How it would go.
create function pgjobs._judged_step(task_ids bigint[], step text)
returns table (task_id bigint, status text, problem text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_known bigint[] := pgjobs._tasks_in_reach(_judged_step.task_ids);
begin
  return query
  select
    i.id, t.status,
    case
      when t.id is null then 'PJ002'
      when _judged_step.step <> all (pgjobs._allowed_steps(t.status, t.phase)) then 'PJ006'
    end
  from unnest(_judged_step.task_ids) with ordinality as i (id, place)
  left join pgjobs.task as t on t.id = i.id and i.id = any (v_known)
  order by i.place;
end
$$;

comment on function pgjobs._judged_step is
  'The result that an action would have for each task. Example: select * from pgjobs._judged_step(array[41, 42], ''retry'')';

-- Refuses a step that the task's present status does not allow.
create function pgjobs._refuse_step(task_id bigint, step text, allowed text)
returns void
language plpgsql stable
as $$
declare
  v_status text := (
    select t.status from pgjobs.task as t where t.id = any (pgjobs._tasks_in_reach(array[_refuse_step.task_id]))
  );
begin
  if v_status is null then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', _refuse_step.task_id));
  end if;
  perform pgjobs._refuse('invalid-task-transition', format('Cannot %s a task that is %s', step, v_status),
    format('Task %s is %s.', _refuse_step.task_id, v_status), format('Only %s tasks allow it.', allowed));
end
$$;

comment on function pgjobs._refuse_step is
  'Raises why an action is not allowed. Example: select pgjobs._refuse_step(42, ''ignore'', ''pending and failed'')';

-- Records what an operator did to tasks.
create function pgjobs._record_actions(task_ids bigint[], kind text, status text, actor text, message text, now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if cardinality(_record_actions.task_ids) > 0 then
    insert into pgjobs.events (at, kind, task_id, job_id, room, status, actor, message)
    select _record_actions.now, _record_actions.kind, t.id, t.job_id, t.room, _record_actions.status, _record_actions.actor,
      left(pgjobs._redact(_record_actions.message), 500)
    from pgjobs.tasks as t
    where t.id = any (_record_actions.task_ids)
    order by t.id;
  end if;
end
$$;

comment on function pgjobs._record_actions is
  'Records what an operator did. Example: see pgjobs.retry_tasks, which calls it';
