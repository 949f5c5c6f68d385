-- Refuses parents that cannot be; the time at which their children are due.
create function pgjobs._check_parents(after bigint[], on_failure text, run_at timestamptz)
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if after is null then
    perform pgjobs._refuse('validation-error', 'on_failure says what happens after parents: name them in after');
  end if;
  if on_failure not in ('cancel', 'run', 'hold') then
    perform pgjobs._refuse('validation-error', 'on_failure must be cancel, run or hold', format('Got %s.', quote_literal(on_failure)));
  end if;
  if run_at is not null then
    perform pgjobs._refuse('validation-error', 'A task that runs after others has no time of its own',
      'It is due when they have ended.', 'Leave out delay and available_at, or let its handler sleep.');
  end if;
  if cardinality(after) > 10000 or array_position(after, null) is not null then
    perform pgjobs._refuse('validation-error', 'after must be an array of at most 10000 task numbers, none null');
  end if;
  return pgjobs._never();
end
$$;

comment on function pgjobs._check_parents is
  'Refuses parents that cannot be. Example: select pgjobs._check_parents(array[17, 18], ''cancel'', null)';

-- Has new tasks wait for these parents, each for all of them.
create function pgjobs._block(task_ids bigint[], after bigint[], on_failure text, now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_known bigint[] := array(
    select t.id from pgjobs.tasks as t where t.id = any (pgjobs._tasks_in_reach(_block.after)) order by t.id
  );
  v_missing bigint := (select a.id from unnest(_block.after) as a (id) where a.id <> all (v_known) limit 1);
begin
  perform pgjobs._require_read_committed('Tasks are submitted after others');
  if v_missing is not null then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', v_missing), 'It is named in after.');
  end if;
  if cardinality(_block.task_ids)::bigint * cardinality(v_known) > 1000000 then
    perform pgjobs._refuse('validation-error', 'Tasks and their parents make at most 1000000 pairs in one call');
  end if;
  perform pgjobs._use_dependencies();
  insert into pgjobs.dependencies (task_id, after_id, kind, name, place, on_failure)
  select n.id, p.id, 'parent', coalesce(w.name, p.id::text), p.place, _block.on_failure
  from unnest(_block.task_ids) as n (id)
  cross join unnest(v_known) with ordinality as p (id, place)
  left join pgjobs.workflow_tasks as w on w.task_id = p.id;
  update pgjobs.scheduled as s
  set waits_for = 'parents', blocked_by = v_known[1]
  where s.task_id = any (_block.task_ids);
  perform pgjobs._recheck_later(_block.task_ids);
  -- Only a further statement sees what has ended since.
  perform pgjobs._settle(pgjobs._lock_waiting(_block.task_ids), _block.now);
end
$$;

comment on function pgjobs._block is
  'Has new tasks wait for parents. Example: see pgjobs.submit_tasks, which submitted them';

-- Has tasks that start over wait for parents that have not ended; which ones do.
create function pgjobs._block_again(task_ids bigint[], now timestamptz)
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_blocked bigint[];
begin
  with blocked as (
    select i.id, w.after_id
    from unnest(_block_again.task_ids) as i (id)
    cross join lateral (
      select d.after_id from pgjobs.dependencies as d
      where d.task_id = i.id and d.kind = 'parent' and pgjobs._is_unfinished(d.after_id)
      order by d.after_id
      limit 1
    ) as w
  ), entered as (
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority, updated_at, waits_for, blocked_by)
    select t.id, pgjobs._never(), t.job_id, t.priority, _block_again.now, 'parents', b.after_id
    from blocked as b
    join pgjobs.tasks as t on t.id = b.id
    returning task_id
  )
  select coalesce(array_agg(e.task_id), '{}') into v_blocked from entered as e;
  perform pgjobs._recheck_later(v_blocked);
  return v_blocked;
end
$$;

comment on function pgjobs._block_again is
  'Has tasks that start over wait for their parents. Example: see pgjobs._enter_lanes, which puts the others into the queue';

-- What hangs on tasks that are removed.
create function pgjobs._forget_durable(task_ids bigint[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  delete from pgjobs.steps as s where s.task_id = any (_forget_durable.task_ids);
  delete from pgjobs.kept_progress as k where k.task_id = any (_forget_durable.task_ids);
  delete from pgjobs.kept_results as r where r.task_id = any (_forget_durable.task_ids);
  delete from pgjobs.completion_tokens as c where c.task_id = any (_forget_durable.task_ids);
  delete from pgjobs.signals as g where g.task_id = any (_forget_durable.task_ids);
  delete from pgjobs.task_log as l where l.task_id = any (_forget_durable.task_ids);
  if pgjobs._are_dependencies_used() then
    delete from pgjobs.dependencies as d where d.task_id = any (_forget_durable.task_ids);
    -- What waits for a task that is removed will not see it end.
    insert into pgjobs.settled (after_id)
    select i.id from unnest(_forget_durable.task_ids) as i (id)
    where exists (select from pgjobs.scheduled as s where s.blocked_by = i.id and s.task_id <> all (_forget_durable.task_ids));
  end if;
  with gone as (
    delete from pgjobs.workflow_tasks as w where w.task_id = any (_forget_durable.task_ids) returning w.workflow_id, w.task_id
  )
  delete from pgjobs.workflows as f
  where f.id in (select g.workflow_id from gone as g)
    and not exists (
      select from pgjobs.workflow_tasks as w
      where w.workflow_id = f.id and w.task_id <> all (_forget_durable.task_ids)
    );
end
$$;

comment on function pgjobs._forget_durable is
  'Removes steps, signals, log lines and dependencies of tasks that are removed. Example: see pgjobs._remove_ended, which calls it';

create function pgjobs._wait_phase(waits_for text)
returns text
language sql immutable
return case waits_for
  when 'time' then 'sleeping' when 'parents' then 'dependent' when 'held' then 'held' else 'waiting'
end;

comment on function pgjobs._wait_phase is
  'What people call a wait. Example: select pgjobs._wait_phase(''signal'')';
