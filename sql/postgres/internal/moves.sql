-- Takes a pending task out of its lane or the schedule; no row when it is not pending.
--
-- A task may be promoted between the two looks, so they are repeated. A claim
-- in flight makes the delete wait and then find nothing.
create function pgjobs.take_pending(task_id bigint)
returns table (job_id integer, priority smallint, attempt smallint)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  for v_try in 1..3 loop
    return query
    delete from pgjobs.ready as r
    using pgjobs.tasks as t
    where t.id = take_pending.task_id
      and r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
    returning r.job_id, r.priority, r.attempt;
    exit when found;
    return query
    delete from pgjobs.ready as r
    where r.task_id = take_pending.task_id and r.is_again
    returning r.job_id, r.priority, r.attempt;
    exit when found;
    return query
    delete from pgjobs.scheduled as s
    where s.task_id = take_pending.task_id
    returning s.job_id, s.priority, s.attempt;
    exit when found;
  end loop;
end
$$;

comment on function pgjobs.take_pending is
  'Takes a pending task out of line. Example: see pgjobs.cancel_task, which gives it a new home';

-- Takes an ended task's outcome away and keeps it in the attempt history; no
-- row when the task has none of these statuses.
create function pgjobs.take_outcome(task_id bigint, statuses text[])
returns table (job_id integer, attempt smallint)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  return query
  with gone as (
    delete from pgjobs.outcomes as o
    where o.task_id = take_outcome.task_id and o.status = any (take_outcome.statuses)
    returning o.*
  ), kept as (
    insert into pgjobs.attempts (
      task_id, attempt, status, token, worker_id, holder, claimed_at, started_at, ended_at, error, error_kind, reason
    )
    select
      g.task_id, g.attempt, g.status, g.token, g.worker_id, g.holder, g.claimed_at, g.started_at, g.ended_at,
      g.error, g.error_kind, g.reason
    from gone as g
  )
  select g.job_id, g.attempt from gone as g;
end
$$;

comment on function pgjobs.take_outcome is
  'Takes an outcome away, into the attempt history. Example: see pgjobs.retry_task, which starts the task over';

-- Puts a task in line from scratch: due now, no attempts used.
create function pgjobs.enter_lane(task_id bigint, now timestamptz)
returns void
language plpgsql volatile
as $$
declare
  v_job integer;
begin
  insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again)
  select t.job_id, t.priority, enter_lane.now, t.id, true
  from pgjobs.tasks as t
  where t.id = enter_lane.task_id
  returning job_id into v_job;
  perform pgjobs.wake(v_job, 1);
end
$$;

comment on function pgjobs.enter_lane is
  'Puts a task in line. Example: see pgjobs.unignore_task, which found it ignored';

-- Refuses a step that the task's present status does not allow.
create function pgjobs.refuse_step(task_id bigint, step text, allowed text)
returns void
language plpgsql stable
as $$
declare
  v_status text := (select t.status from pgjobs.task as t where t.id = refuse_step.task_id);
begin
  if v_status is null then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', refuse_step.task_id));
  end if;
  perform pgjobs.refuse('invalid-task-transition', format('Cannot %s a task that is %s', step, v_status),
    format('Task %s is %s.', refuse_step.task_id, v_status), format('Only %s tasks allow it.', allowed));
end
$$;

comment on function pgjobs.refuse_step is
  'Raises why a step is not allowed. Example: select pgjobs.refuse_step(42, ''ignore'', ''pending and failed'')';

-- Records what an operator did to a task.
create function pgjobs.record_action(task_id bigint, kind text, status text, actor text, message text, now timestamptz)
returns void
language sql volatile
begin atomic
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, actor, message)
  select now, record_action.kind, t.id, t.job_id, t.room, record_action.status, record_action.actor,
    left(pgjobs.redact(record_action.message), 500)
  from pgjobs.tasks as t
  where t.id = record_action.task_id;
end;

comment on function pgjobs.record_action is
  'Records what an operator did. Example: see pgjobs.retry_task, which calls it';
