-- Suspends a running task in a named step: until a time, or until a signal comes, or
-- whichever is first. Worker and slot are free meanwhile, no attempt is used, and there is
-- no error; when the task is due it is claimed again and its handler runs from the top.
--
-- Called again in that step it answers `is_suspended` = false once the wait is over, with
-- the signal's payload, or null if the time was over first. A `delay` counts from the first call.
create function pgjobs.suspend_task(task_id bigint, token uuid, name text, delay interval default null, signal text default null)
returns table (is_suspended boolean, until timestamptz, result jsonb)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_kind text := case when suspend_task.signal is null then 'sleep' else 'signal' end;
  v_lease pgjobs.leases := pgjobs._hold_lease(suspend_task.task_id, suspend_task.token, v_now);
  v_step pgjobs.steps := pgjobs._find_step(suspend_task.task_id, suspend_task.name, v_kind);
  v_sent pgjobs.signals;
begin
  if v_step.number is null then
    if suspend_task.delay is null and suspend_task.signal is null then
      perform pgjobs._refuse('validation-error', 'A task is suspended for a time, for a signal or for both');
    end if;
    perform pgjobs._check_delay(suspend_task.delay);
    if suspend_task.signal is not null then
      perform pgjobs._check_step_name(suspend_task.signal, 'signal');
    end if;
    v_step := pgjobs._keep_step(
      suspend_task.task_id, suspend_task.name, v_kind, null, false, v_now + suspend_task.delay, v_now
    );
  end if;
  if v_kind = 'signal' and not v_step.is_done then
    perform pgjobs._require_read_committed('Signals are waited for');
    -- Whoever sends one locks the task as well: the later of both sees what the other wrote.
    perform from pgjobs.tasks as t where t.id = suspend_task.task_id for no key update;
    select g.* into v_sent
    from pgjobs.signals as g
    where g.task_id = suspend_task.task_id and g.name = suspend_task.signal;
  end if;
  if not v_step.is_done and (v_sent.task_id is not null or v_step.until <= v_now) then
    update pgjobs.steps as s
    set is_done = true, result = v_sent.payload
    where s.task_id = suspend_task.task_id and s.number = v_step.number
    returning s.* into v_step;
  end if;
  if not v_step.is_done then
    perform pgjobs._suspend(
      v_lease, case v_kind when 'sleep' then 'time' else 'signal' end, v_step.until, suspend_task.signal, null, v_now
    );
  end if;
  return query select not v_step.is_done, v_step.until, v_step.result;
end
$$;

comment on function pgjobs.suspend_task is
  'Suspends a running task until a time or a signal. Example: select * from pgjobs.suspend_task(42, ''<token>''::uuid, ''trial'', delay => ''14 days'')';
