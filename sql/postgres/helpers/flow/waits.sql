-- A suspended or blocked task waits in `scheduled` and is due at this time: never.
create function pgjobs._never()
returns timestamptz
language sql immutable
return timestamptz '9999-12-31 00:00:00+00';

comment on function pgjobs._never is 'When a task is due that waits for something without a time. Example: select pgjobs._never()';

-- Whoever writes and then looks for what others wrote must see what was committed meanwhile.
create function pgjobs._require_read_committed(what text)
returns void
language plpgsql volatile
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform pgjobs._refuse('validation-error', format('%s under READ COMMITTED only', _require_read_committed.what),
      format('The transaction is %s.', upper(current_setting('transaction_isolation'))), 'Use a transaction of its own.');
  end if;
end
$$;

comment on function pgjobs._require_read_committed is
  'Refuses transactions that look at an old snapshot. Example: select pgjobs._require_read_committed(''Signals are sent'')';

-- Gives a lease back until the task is due again. Uses up no attempt and is no error. A
-- task that was asked to stop is cancelled instead.
create function pgjobs._suspend(held pgjobs.leases, waits_for text, run_at timestamptz, signal text, blocked_by bigint, now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_suspended bigint;
begin
  with gone as (
    delete from pgjobs.leases as l
    where l.task_id = (_suspend.held).task_id and l.token = (_suspend.held).token
    returning l.*
  ), cancelled as (
    insert into pgjobs.outcomes (
      task_id, job_id, status, attempt, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, reason
    )
    select
      g.task_id, g.job_id, 'cancelled', g.attempt, g.token, g.worker_id, g.holder, g.due_at, g.claimed_at, g.started_at,
      _suspend.now, g.cancel_reason
    from gone as g
    where g.cancel_requested_at is not null
  ), kept as (
    insert into pgjobs.kept_progress as k (task_id, progress)
    select g.task_id, g.progress from gone as g where g.progress is not null
    on conflict (task_id) do update set progress = excluded.progress
  )
  insert into pgjobs.scheduled (task_id, run_at, job_id, priority, attempt, updated_at, waits_for, signal, blocked_by)
  select
    g.task_id, coalesce(_suspend.run_at, pgjobs._never()), g.job_id, t.priority, g.attempt - 1, _suspend.now,
    _suspend.waits_for, _suspend.signal, _suspend.blocked_by
  from gone as g
  join pgjobs.tasks as t on t.id = g.task_id
  where g.cancel_requested_at is null;
  get diagnostics v_suspended = row_count;
  if v_suspended = 0 then
    perform pgjobs._announce_endings(array[(_suspend.held).task_id]);
  end if;
  perform pgjobs._enter_keys(array[(_suspend.held).task_id]);
  if (_suspend.held).is_limited then
    perform pgjobs._wake_for_slots(array[(_suspend.held).job_id]);
  end if;
  -- An idle worker sleeps until what was due next when it looked.
  if _suspend.run_at < _suspend.now + interval '1 minute' then
    perform pgjobs._wake((_suspend.held).job_id, 1);
  end if;
end
$$;

comment on function pgjobs._suspend is
  'Gives a lease back until a task is due again. Example: see pgjobs.suspend_task, which calls it';

-- Puts waiting tasks into their lanes, due now.
create function pgjobs._resume(task_ids bigint[], now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_entered record;
begin
  for v_entered in
    with gone as (
      delete from pgjobs.scheduled as s
      where s.task_id = any (_resume.task_ids) and s.waits_for is not null
      returning s.*
    ), entered as (
      insert into pgjobs.ready (job_id, priority, attempt, due_at, task_id, is_again, updated_at)
      select g.job_id, g.priority, g.attempt, _resume.now, g.task_id, true, _resume.now from gone as g
      returning job_id, task_id
    )
    select e.job_id, count(*) as quantity, array_agg(e.task_id) as task_ids from entered as e group by e.job_id
  loop
    perform pgjobs._tell_returned(v_entered.task_ids, 'due');
    perform pgjobs._wake(v_entered.job_id, v_entered.quantity);
  end loop;
  perform pgjobs._enter_keys(_resume.task_ids);
end
$$;

comment on function pgjobs._resume is
  'Puts waiting tasks into their lanes. Example: see pgjobs.send_signal, which found one waiting';
