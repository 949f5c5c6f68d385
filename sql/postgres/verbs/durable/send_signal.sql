-- Sends a named fact to a task. A task that waits for it is due now; otherwise it is kept
-- until the task asks. The first of a name counts: a second one answers with the first one's
-- payload and `is_new` = false.
create function pgjobs.send_signal(task_id bigint, name text, payload jsonb default 'null', actor text default null)
returns table (is_new boolean, kept jsonb, sent_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_task bigint := (pgjobs._tasks_in_reach(array[send_signal.task_id]))[1];
  v_signals integer;
begin
  perform pgjobs._check_step_name(send_signal.name, 'signal');
  perform pgjobs._check_documents(array[send_signal.payload], 'payload');
  perform pgjobs._check_labels(send_signal.actor, null, null, null);
  perform pgjobs._require_read_committed('Signals are sent');
  -- Whoever waits for one locks the task as well: the later of both sees what the other wrote.
  perform from pgjobs.tasks as t where t.id = v_task for no key update;
  if not found then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', send_signal.task_id));
  end if;
  is_new := not exists (select from pgjobs.signals as g where g.task_id = v_task and g.name = send_signal.name);
  if is_new then
    if exists (select from pgjobs.outcomes as o where o.task_id = v_task) then
      perform pgjobs._refuse('invalid-task-transition', format('Task %s has ended', v_task), 'Nobody would read the signal.');
    end if;
    v_signals := (select count(*) from pgjobs.signals as g where g.task_id = v_task);
    if v_signals >= 1000 then
      perform pgjobs._refuse('validation-error', format('Task %s has %s signals, and may not have more', v_task, v_signals));
    end if;
    insert into pgjobs.signals (task_id, name, payload, sent_at, sender)
    values (v_task, send_signal.name, send_signal.payload, v_now, pgjobs._actor(send_signal.actor));
    perform pgjobs._resume(array(
      select s.task_id from pgjobs.scheduled as s
      where s.task_id = v_task and s.waits_for = 'signal' and s.signal = send_signal.name
      for update
    ), v_now);
  end if;
  return query
  select send_signal.is_new, g.payload, g.sent_at
  from pgjobs.signals as g
  where g.task_id = v_task and g.name = send_signal.name;
end
$$;

comment on function pgjobs.send_signal is
  'Sends a named fact to a task. Example: select is_new from pgjobs.send_signal(42, ''approved'', ''{"by": "ada"}'')';
