-- Whether what lives in one room can be seen from another.
create function pgjobs._is_visible(room text, from_room text)
returns boolean
language sql immutable
return room in (from_room, '@global') or (room = '@internal' and from_room <> '@global');

comment on function pgjobs._is_visible is
  'Whether a room''s jobs are visible from another. Example: select pgjobs._is_visible(''@global'', ''lab-7'')';

-- The jobs a list of a room's tasks is about; refuses what cannot be listed.
create function pgjobs._jobs_to_list(room text, job text, status text)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job pgjobs.jobs;
begin
  perform pgjobs._check_room(room);
  perform pgjobs._enter(_jobs_to_list.room);
  if status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored') then
    perform pgjobs._refuse('validation-error', format('Unknown status %s', quote_literal(status)));
  end if;
  if job is null then
    return pgjobs._jobs_used_in(room);
  end if;
  v_job := pgjobs._find_job(job);
  if not pgjobs._is_visible(v_job.room, _jobs_to_list.room)
    and not exists (
      select from pgjobs.tasks as t where t.room = _jobs_to_list.room and t.job_id = v_job.id
    )
  then
    perform pgjobs._refuse('job-not-found', format('Job %s does not exist', job), 'It belongs to another room.');
  end if;
  return array[v_job.id];
end
$$;

comment on function pgjobs._jobs_to_list is
  'The jobs a list of tasks is about. Example: select pgjobs._jobs_to_list(''lab-7'', null, ''failed'')';

-- Who may change a task: the owner of its worker, a superuser, and as long as
-- no worker has it whoever submitted it.
create function pgjobs._check_updater(
  task_uuid uuid, worker_id uuid, submitter text, actor text, is_superuser boolean
)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if actor is not null and not is_superuser
    and not exists (
      select from pgjobs.workers as w where w.id = _check_updater.worker_id and w.owner = _check_updater.actor
    )
    and (worker_id is not null or submitter is distinct from _check_updater.actor)
  then
    perform pgjobs._refuse('forbidden', format('Task %s is not yours to change', task_uuid));
  end if;
end
$$;

comment on function pgjobs._check_updater is
  'Refuses updates by strangers. Example: see pgjobs.update_task, which calls it first';

-- Whether an update says again, under the same token, what was said before: a
-- lost reply can be retried. Refuses a token that is no longer the task's.
create function pgjobs._is_said_before(
  task_id bigint, task_uuid uuid, held uuid, token uuid, old_status text, new_status text
)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if token is null then
    return false;
  elsif token = held then
    return old_status = 'running' and new_status = 'running';
  elsif old_status = new_status and exists (
    select from pgjobs.outcomes as o where o.task_id = _is_said_before.task_id and o.token = _is_said_before.token
  ) then
    return true;
  -- What was failed may be tried again since, or have ended otherwise.
  elsif new_status = 'failed' and exists (
    select from pgjobs.attempts as a
    where a.task_id = _is_said_before.task_id and a.token = _is_said_before.token
      and pgjobs._is_own_failure(a.status, a.error_kind)
  ) then
    return true;
  end if;
  perform pgjobs._refuse('lease-lost', format('The lease of task %s is lost', task_uuid),
    'It lapsed or passed to another worker.');
  return false;
end
$$;

comment on function pgjobs._is_said_before is
  'Whether an update repeats another; refuses lost leases. Example: see pgjobs.update_task, which calls it first';

-- Every other reason to refuse an update.
create function pgjobs._check_update(old_status text, new_status text)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if new_status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled') then
    perform pgjobs._refuse('validation-error', format('Unknown status %s', quote_literal(new_status)));
  end if;
  if new_status <> all (case old_status
    when 'pending' then array['cancelled']
    when 'claimed' then array['running', 'failed', 'cancelled']
    when 'running' then array['completed', 'failed', 'cancelled']
    else '{}'
  end) then
    perform pgjobs._refuse('invalid-task-transition',
      format('Cannot transition from ''%s'' to ''%s''', old_status, new_status));
  end if;
end
$$;

comment on function pgjobs._check_update is
  'Refuses updates that cannot be. Example: select pgjobs._check_update(''claimed'', ''running'')';

-- Takes a task to another status, or says why not.
--
-- The lease is locked before anything is judged, so the holder cannot change.
create function pgjobs._update_task_locked(
  task_id bigint,
  task_uuid uuid,
  status text,
  error text,
  result jsonb,
  token uuid,
  actor text,
  is_superuser boolean
)
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_token uuid;
  v_task record;
  v_problem text;
begin
  select l.token into v_token from pgjobs.leases as l where l.task_id = _update_task_locked.task_id for update;
  select t.id, t.job_id, t.submitter, t.status, t.worker_id into v_task
  from pgjobs.task as t where t.id = any (pgjobs._tasks_in_reach(array[_update_task_locked.task_id]));
  if v_task.id is null then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', _update_task_locked.task_uuid));
  end if;
  -- The lease before its owner: a worker whose task passed on to somebody else's is told that.
  if pgjobs._is_said_before(
    _update_task_locked.task_id, _update_task_locked.task_uuid, v_token, _update_task_locked.token, v_task.status, _update_task_locked.status
  ) then
    return;
  end if;
  perform pgjobs._check_updater(
    _update_task_locked.task_uuid, v_task.worker_id, v_task.submitter, _update_task_locked.actor, _update_task_locked.is_superuser
  );
  perform pgjobs._check_update(v_task.status, _update_task_locked.status);
  v_problem := case _update_task_locked.status
    when 'running' then (select s.problem from pgjobs.start_tasks(array[v_task.id], array[v_token]) as s)
    when 'completed' then (
      select c.problem from pgjobs.complete_tasks(
        array[v_task.id], array[v_token], case when _update_task_locked.result is not null then array[_update_task_locked.result] end
      ) as c
    )
    when 'failed' then (
      select f.problem
      from pgjobs.fail_tasks(array[v_task.id], array[v_token], array[coalesce(_update_task_locked.error, 'unknown error')]) as f
    )
    when 'cancelled' then (
      select null from pgjobs.cancel_task(v_task.id, _update_task_locked.error, v_task.status <> 'pending', _update_task_locked.actor)
    )
  end;
  if v_problem is not null then
    perform pgjobs._refuse('lease-lost', format('The lease of task %s is lost', _update_task_locked.task_uuid));
  end if;
  if _update_task_locked.status <> 'running' then
    perform pgjobs._retire_orphans(array[v_task.job_id], pgjobs._now());
  end if;
end
$$;

comment on function pgjobs._update_task_locked is
  'Takes a task to another status, or refuses. Example: see pgjobs.update_task, which calls it for all but the usual steps';
