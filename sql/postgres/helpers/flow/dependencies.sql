-- Tasks that wait for other tasks: children for their parents (`parents`; `held` once one
-- of them has failed), and running tasks for what they have called (`calls`).
--
-- Each is blocked by one unfinished task at a time, and only the end of that one is noted:
-- an acknowledgement asks one index whether it blocks anybody, whatever waits. When it has
-- ended, the next unfinished one is looked for, and when there is none the task is released.

create function pgjobs._are_dependencies_used()
returns boolean
language sql volatile
return coalesce(pg_sequence_last_value('pgjobs.dependencies_used'::regclass) > 0, false);

comment on function pgjobs._are_dependencies_used is
  'Whether any task has ever waited for another here. Example: select pgjobs._are_dependencies_used()';

create function pgjobs._use_dependencies()
returns void
language plpgsql volatile
as $$
begin
  if not pgjobs._are_dependencies_used() then
    perform setval('pgjobs.dependencies_used', 1);
  end if;
end
$$;

comment on function pgjobs._use_dependencies is
  'Has acknowledgements and claims look for tasks that wait for others. Example: select pgjobs._use_dependencies()';

-- Whether a task has yet to end. One that was removed will not.
create function pgjobs._is_unfinished(task_id bigint)
returns boolean
language sql stable
as $$
  select exists (select from pgjobs.tasks as t where t.id = _is_unfinished.task_id)
    and not exists (select from pgjobs.outcomes as o where o.task_id = _is_unfinished.task_id)
$$;

comment on function pgjobs._is_unfinished is 'Whether a task has yet to end. Example: select pgjobs._is_unfinished(42)';

-- Whether the end of a task has to be noted. One that failed may cancel children that it does
-- not block. Who looks at an old snapshot cannot tell, and notes it.
create function pgjobs._has_dependents(task_id bigint, has_failed boolean)
returns boolean
language sql stable
as $$
  select exists (select from pgjobs.scheduled as s where s.blocked_by = _has_dependents.task_id)
    or (has_failed and exists (select from pgjobs.dependencies as d where d.after_id = _has_dependents.task_id))
    or current_setting('transaction_isolation') <> 'read committed'
$$;

comment on function pgjobs._has_dependents is
  'Whether the end of a task has to be noted. Example: select pgjobs._has_dependents(42, false)';

-- Wakes a worker that serves a task which waited for this one: its claim releases them all.
create function pgjobs._wake_for_dependents(task_id bigint)
returns void
language plpgsql volatile
as $$
declare
  v_job integer := (
    select s.job_id from pgjobs.scheduled as s where s.blocked_by = _wake_for_dependents.task_id order by s.task_id limit 1
  );
begin
  if v_job is not null then
    perform pgjobs._wake(v_job, 1);
  end if;
end
$$;

comment on function pgjobs._wake_for_dependents is
  'Wakes a worker for what waited for a task. Example: select pgjobs._wake_for_dependents(42)';

-- Whether somebody will still read the outcome of a task, so that retention keeps it.
create function pgjobs._is_awaited(task_id bigint)
returns boolean
language sql stable
as $$
  select exists (
    select from pgjobs.dependencies as d
    where d.after_id = _is_awaited.task_id and pgjobs._is_unfinished(d.task_id)
  )
$$;

comment on function pgjobs._is_awaited is
  'Whether a task that has not ended waits, or waited, for this one. Example: select pgjobs._is_awaited(42)';

-- What is to become of tasks that wait for others: wait (for which), run, cancel or hold
-- (because of which).
create function pgjobs._verdicts(task_ids bigint[])
returns table (task_id bigint, verdict text, because_of bigint)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  return query
  select
    s.task_id, case when w.after_id is not null then 'wait' else coalesce(f.on_failure, 'run') end,
    coalesce(w.after_id, f.after_id)
  from pgjobs.scheduled as s
  left join lateral (
    -- On from the one that blocked it, so that a fan-in of many is walked once.
    (
      select d.after_id from pgjobs.dependencies as d
      where d.task_id = s.task_id and d.kind = case s.waits_for when 'calls' then 'call' else 'parent' end
        and d.after_id >= s.blocked_by and pgjobs._is_unfinished(d.after_id)
      order by d.after_id
      limit 1
    )
    union all
    (
      select d.after_id from pgjobs.dependencies as d
      where d.task_id = s.task_id and d.kind = case s.waits_for when 'calls' then 'call' else 'parent' end
        and d.after_id < s.blocked_by and pgjobs._is_unfinished(d.after_id)
      order by d.after_id
      limit 1
    )
    limit 1
  ) as w on true
  left join lateral (
    select d.on_failure, d.after_id
    from pgjobs.dependencies as d
    left join pgjobs.outcomes as o on o.task_id = d.after_id
    where w.after_id is null and d.task_id = s.task_id and d.kind = 'parent' and s.waits_for <> 'calls'
      and d.on_failure <> 'run' and o.status is distinct from 'completed'
    order by d.after_id
    limit 1
  ) as f on true
  where s.task_id = any (_verdicts.task_ids) and s.waits_for in ('parents', 'held', 'calls');
end
$$;

comment on function pgjobs._verdicts is
  'What is to become of tasks that wait for others. Example: select * from pgjobs._verdicts(array[42])';

-- Locks waiting tasks in order of number; those that others hold are passed by.
create function pgjobs._lock_waiting(task_ids bigint[])
returns bigint[]
language plpgsql volatile
as $$
begin
  return array(
    select s.task_id from pgjobs.scheduled as s
    where s.task_id = any (_lock_waiting.task_ids) and s.waits_for in ('parents', 'held', 'calls')
    order by s.task_id
    for update skip locked
  );
end
$$;

comment on function pgjobs._lock_waiting is
  'Locks tasks that wait for others. Example: see pgjobs._sweep_waits, which found some';

-- Cancels children because a parent did not complete.
create function pgjobs._cancel_children(task_ids bigint[], parents bigint[], now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  with gone as (
    delete from pgjobs.scheduled as s where s.task_id = any (_cancel_children.task_ids) returning s.*
  )
  insert into pgjobs.outcomes (task_id, job_id, status, attempt, ended_at, error_kind, reason)
  select
    g.task_id, g.job_id, 'cancelled', g.attempt, _cancel_children.now, 'parent_failed',
    format('parent %s %s', p.id, coalesce((select o.status from pgjobs.outcomes as o where o.task_id = p.id), 'was removed'))
  from gone as g
  join unnest(_cancel_children.task_ids, _cancel_children.parents) as p (child_id, id) on p.child_id = g.task_id;
  perform pgjobs._announce_endings(_cancel_children.task_ids);
end
$$;

comment on function pgjobs._cancel_children is
  'Cancels children because of a parent. Example: see pgjobs._settle, which asks for it';

-- Does what the verdicts say with tasks that are locked; how many wait no longer.
create function pgjobs._settle(task_ids bigint[], now timestamptz)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_verdicts record;
  v_moved bigint[];
begin
  select
    coalesce(array_agg(v.task_id) filter (where v.verdict = 'run'), '{}') as run,
    coalesce(array_agg(v.task_id) filter (where v.verdict = 'cancel'), '{}') as cancelled,
    coalesce(array_agg(v.because_of) filter (where v.verdict = 'cancel'), '{}') as causes,
    coalesce(array_agg(v.task_id) filter (where v.verdict in ('wait', 'hold')), '{}') as left_waiting,
    coalesce(array_agg(v.because_of) filter (where v.verdict in ('wait', 'hold')), '{}') as blockers,
    coalesce(array_agg(v.verdict = 'hold') filter (where v.verdict in ('wait', 'hold')), '{}') as are_held
  into v_verdicts
  from pgjobs._verdicts(_settle.task_ids) as v;
  if v_verdicts.run <> '{}' then
    perform pgjobs._resume(v_verdicts.run, _settle.now);
  end if;
  if v_verdicts.cancelled <> '{}' then
    perform pgjobs._cancel_children(v_verdicts.cancelled, v_verdicts.causes, _settle.now);
  end if;
  with moved as (
    update pgjobs.scheduled as s
    set
      blocked_by = b.after_id,
      waits_for = case when b.is_held then 'held' when s.waits_for = 'held' then 'parents' else s.waits_for end
    from unnest(v_verdicts.left_waiting, v_verdicts.blockers, v_verdicts.are_held) as b (task_id, after_id, is_held)
    where s.task_id = b.task_id
      and (s.blocked_by is distinct from b.after_id or (s.waits_for = 'held') <> b.is_held)
    returning s.task_id, s.waits_for
  )
  select array_agg(m.task_id) filter (where m.waits_for <> 'held') into v_moved from moved as m;
  perform pgjobs._recheck_later(v_moved);
  return cardinality(v_verdicts.run) + cardinality(v_verdicts.cancelled);
end
$$;

comment on function pgjobs._settle is
  'Releases, cancels or holds tasks whose parents have ended. Example: see pgjobs._release_settled, which locks them first';

-- What blocks these tasks may be ending in a transaction that does not see them, as this
-- one does not see its end: they are looked at again when neither can be.
create function pgjobs._recheck_later(task_ids bigint[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  insert into pgjobs.rechecks (task_ids)
  select array_agg(i.id order by i.place)
  from unnest(_recheck_later.task_ids) with ordinality as i (id, place)
  group by (i.place - 1) / 500;
end
$$;

comment on function pgjobs._recheck_later is
  'Has blocked tasks looked at again. Example: see pgjobs._block, whose parents may just be ending';
