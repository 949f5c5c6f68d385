-- Has a running task submit others in a named step and wait for them: it is suspended, and
-- goes on when all have ended. The slot it held is free meanwhile, also for tasks of its own
-- job. They belong to the caller's room, owner and project.
--
-- Called again in that step it submits nothing. Once all have ended it answers with one row
-- for each, in order; until then with one row, `is_suspended` = true.
create function pgjobs.call_tasks(
  task_id bigint,
  token uuid,
  name text,
  job text,
  payloads jsonb[],
  priority integer default null,
  max_attempts integer default null
)
returns table (
  is_suspended boolean, called_id bigint, called_job text, status text, result jsonb, error text, reason text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_lease pgjobs.leases := pgjobs._hold_lease(call_tasks.task_id, call_tasks.token, v_now);
  v_step pgjobs.steps := pgjobs._find_step(call_tasks.task_id, call_tasks.name, 'call');
  v_first bigint;
begin
  perform pgjobs._require_read_committed('Tasks are called');
  if v_step.number is null then
    perform pgjobs._submit_calls(
      call_tasks.task_id, call_tasks.name, call_tasks.job, call_tasks.payloads, call_tasks.priority, call_tasks.max_attempts
    );
    v_step := pgjobs._keep_step(call_tasks.task_id, call_tasks.name, 'call', null, false, null, v_now);
  end if;
  v_first := (
    select d.after_id from pgjobs.dependencies as d
    where d.task_id = call_tasks.task_id and d.kind = 'call' and d.name = call_tasks.name and pgjobs._is_unfinished(d.after_id)
    order by d.after_id
    limit 1
  );
  if v_first is not null then
    perform pgjobs._suspend(v_lease, 'calls', null, null, v_first, v_now);
    perform pgjobs._recheck_later(array[call_tasks.task_id]);
    -- Only a further statement sees what has ended since.
    perform pgjobs._settle(pgjobs._lock_waiting(array[call_tasks.task_id]), v_now);
    return query select true, null::bigint, null, null, null::jsonb, null, null;
    return;
  end if;
  update pgjobs.steps as s set is_done = true where s.task_id = call_tasks.task_id and s.number = v_step.number and not s.is_done;
  return query
  select false, d.after_id, v.job, coalesce(v.status, 'removed'), o.result, v.error, v.reason
  from pgjobs.dependencies as d
  left join pgjobs.task as v on v.id = d.after_id
  left join pgjobs.outcomes as o on o.task_id = d.after_id
  where d.task_id = call_tasks.task_id and d.kind = 'call' and d.name = call_tasks.name
  order by d.place;
end
$$;

comment on function pgjobs.call_tasks is
  'Submits tasks and waits for them. Example: select * from pgjobs.call_tasks(42, ''<token>''::uuid, ''pdf'', ''@global:documents:Render'', array[''{"page": 1}''::jsonb])';
