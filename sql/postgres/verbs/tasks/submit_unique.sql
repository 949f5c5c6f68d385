-- Submits a task unless one for the same thing is there: with this key, this idempotency key
-- or these arguments (`unique_fields` of them), submitted from the same room. `unique_while`
-- says how long that one counts: while it is waiting, unfinished (waiting or running), or
-- for a period since it was submitted (`unique_period`), ended or not.
--
-- Answers which task it is and whether it is new, found or replaced. Of one that waits and
-- was never claimed, `replace` has payload, priority or due_at take its values from this
-- submit; `debounce` does so with payload and due time, which is that long after the last
-- submit and not later than `max_wait` after the first. One that was claimed before keeps
-- its body: then this submit makes a task of its own.
create function pgjobs.submit_unique(
  job text,
  payload jsonb default '{}',
  unique_while text default 'waiting',
  unique_period interval default null,
  unique_by text default null,
  unique_fields text[] default null,
  debounce interval default null,
  max_wait interval default null,
  replace text[] default null,
  room text default null,
  priority integer default 5,
  available_at timestamptz default null,
  delay interval default null,
  max_attempts integer default null,
  idempotency_key text default null,
  submitter text default null,
  owner text default null,
  project text default null,
  tags text[] default null,
  require_workers boolean default false,
  cross_room boolean default false,
  trace_context text default null,
  key text default null
)
returns table (task_id bigint, is_new boolean, outcome text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_job pgjobs.jobs := pgjobs._find_job(submit_unique.job);
  v_replaced text[] := coalesce(submit_unique.replace, '{}') || case when submit_unique.debounce is not null then array['payload', 'due_at'] end;
  v_name text;
  v_known pgjobs.unique_tasks;
  v_there record;
  v_due_at timestamptz;
begin
  perform pgjobs._check_unique(unique_while, unique_period, submit_unique.debounce, submit_unique.max_wait, submit_unique.replace);
  if submit_unique.delay is not null then
    perform pgjobs._check_delay(submit_unique.delay);
  end if;
  v_name := pgjobs._unique_name(
    coalesce(case when pgjobs._rooms() is null then submit_unique.room else pgjobs._enter(submit_unique.room) end, v_job.room),
    submit_unique.unique_by, submit_unique.key, submit_unique.idempotency_key, submit_unique.payload, submit_unique.unique_fields
  );
  -- The update locks the row: of many submitters at once one goes on, and the next sees what it wrote.
  insert into pgjobs.unique_tasks as u (job_id, name, task_id, since, expires_at)
  values (v_job.id, v_name, 0, v_now, v_now)
  on conflict (job_id, name) do update set task_id = u.task_id
  returning u.* into v_known;
  v_due_at := case
    when submit_unique.debounce is not null then v_now + submit_unique.debounce
    else coalesce(submit_unique.available_at, v_now + submit_unique.delay, v_now)
  end;
  select w.* into v_there from pgjobs._lock_unclaimed(v_known.task_id) as w;
  if unique_while = 'period' and v_known.since > v_now - unique_period
    and exists (select from pgjobs.tasks as t where t.id = v_known.task_id)
    or unique_while in ('waiting', 'unfinished') and v_there.due_at is not null and (v_there.is_untouched or v_replaced = '{}')
    or unique_while = 'unfinished' and exists (select from pgjobs.leases as l where l.task_id = v_known.task_id)
  then
    if v_replaced <> '{}' then
      v_due_at := case when 'due_at' = any (v_replaced) then least(v_due_at, v_known.since + submit_unique.max_wait) else v_there.due_at end;
      perform pgjobs._replace_waiting(
        v_known.task_id, submit_unique.payload, submit_unique.priority, v_due_at, v_replaced, submit_unique.submitter, v_now
      );
    end if;
    return query select v_known.task_id, false, case when v_replaced <> '{}' then 'replaced' else 'found' end;
    return;
  end if;
  select s.task_id into v_known.task_id
  from pgjobs.submit_tasks(
    job => submit_unique.job, payloads => array[submit_unique.payload], room => submit_unique.room,
    priority => submit_unique.priority, available_at => case when v_due_at > v_now then v_due_at else submit_unique.available_at end,
    max_attempts => submit_unique.max_attempts,
    submitter => submit_unique.submitter, owner => submit_unique.owner, project => submit_unique.project,
    tags => submit_unique.tags, require_workers => submit_unique.require_workers, cross_room => submit_unique.cross_room,
    trace_context => submit_unique.trace_context, keys => case when submit_unique.key is not null then array[submit_unique.key] end
  ) as s;
  update pgjobs.unique_tasks as u
  set task_id = v_known.task_id, since = v_now, expires_at = v_now + coalesce(unique_period, '0') + interval '1 hour'
  where u.job_id = v_job.id and u.name = v_name;
  return query select v_known.task_id, true, 'new';
end
$$;

comment on function pgjobs.submit_unique is
  'Submits a task unless one for the same is there. Example: select * from pgjobs.submit_unique(''@global:modifiers:Rotate'', ''{"angle": 90}'', debounce => ''5 seconds'')';
