-- The lease of whoever speaks for a task, locked; refuses a token that is no longer good.
create function pgjobs._hold_lease(task_id bigint, token uuid, now timestamptz)
returns pgjobs.leases
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_lease pgjobs.leases;
begin
  select l.* into v_lease
  from pgjobs.leases as l
  where l.task_id = _hold_lease.task_id and l.token = _hold_lease.token
    and (l.until is null or l.until > _hold_lease.now)
  for update;
  if v_lease.task_id is null and pgjobs._lost_or_unknown(_hold_lease.task_id) = 'PJ002' then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', _hold_lease.task_id));
  elsif v_lease.task_id is null then
    perform pgjobs._refuse('lease-lost', format('Task %s is no longer held under this token', _hold_lease.task_id));
  end if;
  return v_lease;
end
$$;

comment on function pgjobs._hold_lease is
  'Locks the lease of a task for its holder. Example: see pgjobs.save_step, which asks for it';

create function pgjobs._check_step_name(name text, what text)
returns void
language plpgsql stable
as $$
begin
  if name is null or name = '' or length(name) > 200 then
    perform pgjobs._refuse('validation-error', format('The name of a %s has 1 to 200 characters', what));
  end if;
end
$$;

comment on function pgjobs._check_step_name is
  'Refuses names that cannot be. Example: select pgjobs._check_step_name(''charge'', ''step'')';

-- Keeps a step of a task whose lease the caller holds, within the bounds of the settings.
create function pgjobs._keep_step(task_id bigint, name text, kind text, result jsonb, is_done boolean, until timestamptz, now timestamptz)
returns pgjobs.steps
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_settings pgjobs.settings;
  v_last pgjobs.steps;
  v_bytes bigint := octet_length(coalesce(_keep_step.result::text, ''));
  v_kept pgjobs.steps;
begin
  select s.* into v_settings from pgjobs.settings as s;
  -- Whoever holds the lease is alone, so the last step knows how many there are and how large.
  select s.* into v_last from pgjobs.steps as s where s.task_id = _keep_step.task_id order by s.number desc limit 1;
  if v_last.number >= v_settings.max_steps then
    perform pgjobs._refuse('validation-error', format('Task %s has %s steps, and may not have more', _keep_step.task_id, v_last.number),
      null, 'Save fewer, larger steps, submit tasks instead, or raise settings.max_steps.');
  end if;
  if coalesce(v_last.total_bytes, 0) + v_bytes > v_settings.max_step_bytes then
    perform pgjobs._refuse('payload-too-large', format('The step results of task %s exceed %s bytes', _keep_step.task_id, v_settings.max_step_bytes),
      format('They have %s bytes, and step %s adds %s.', coalesce(v_last.total_bytes, 0), quote_literal(_keep_step.name), v_bytes),
      'Keep what is large elsewhere and save where it is, or raise settings.max_step_bytes.');
  end if;
  insert into pgjobs.steps as s (task_id, number, name, kind, result, is_done, until, total_bytes, saved_at)
  values (
    _keep_step.task_id, coalesce(v_last.number, 0) + 1, _keep_step.name, _keep_step.kind, _keep_step.result,
    _keep_step.is_done, _keep_step.until, coalesce(v_last.total_bytes, 0) + v_bytes, _keep_step.now
  )
  returning s.* into v_kept;
  return v_kept;
end
$$;

comment on function pgjobs._keep_step is
  'Keeps a step, within bounds. Example: see pgjobs.save_step, which holds the lease';

-- The step of that name, if there is one; refuses one of another kind.
create function pgjobs._find_step(task_id bigint, name text, kind text)
returns pgjobs.steps
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_step pgjobs.steps;
begin
  perform pgjobs._check_step_name(_find_step.name, 'step');
  select s.* into v_step from pgjobs.steps as s where s.task_id = _find_step.task_id and s.name = _find_step.name;
  if v_step.kind <> _find_step.kind then
    perform pgjobs._refuse('validation-error', format('Step %s of task %s is a %s, not a %s',
      quote_literal(_find_step.name), _find_step.task_id, v_step.kind, _find_step.kind),
      'An earlier attempt saved it.', 'Give the new one another name.');
  end if;
  return v_step;
end
$$;

comment on function pgjobs._find_step is
  'The step of a name. Example: select (pgjobs._find_step(42, ''charge'', ''step'')).result';
