-- Puts a pending or failed task aside until somebody unignores or retries it.
create function pgjobs.ignore_task(task_id bigint, actor text default null, reason text default null)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_reason text := pgjobs.redact(ignore_task.reason);
  v_is_done boolean;
begin
  if length(v_reason) > 200 then
    perform pgjobs.refuse('validation-error', 'A reason has at most 200 characters');
  end if;
  -- A retry may bring it back into line between the two looks.
  for v_try in 1..3 loop
    insert into pgjobs.ignored (task_id, job_id, attempt, ignored_at, actor, reason)
    select ignore_task.task_id, p.job_id, p.attempt, v_now, ignore_task.actor, v_reason
    from pgjobs.take_pending(ignore_task.task_id) as p;
    v_is_done := found;
    exit when v_is_done;
    insert into pgjobs.ignored (task_id, job_id, attempt, ignored_at, actor, reason)
    select ignore_task.task_id, o.job_id, o.attempt, v_now, ignore_task.actor, v_reason
    from pgjobs.take_outcome(ignore_task.task_id, array['failed']) as o;
    v_is_done := found;
    exit when v_is_done;
  end loop;
  if not v_is_done then
    perform pgjobs.refuse_step(ignore_task.task_id, 'ignore', 'pending and failed');
  end if;
  perform pgjobs.record_action(ignore_task.task_id, 'ignored', 'ignored', ignore_task.actor, v_reason, v_now);
  return query select t.* from pgjobs.task as t where t.id = ignore_task.task_id;
end
$$;

comment on function pgjobs.ignore_task is
  'Puts a task aside. Example: select status from pgjobs.ignore_task(42, actor => current_user, reason => ''target is gone'')';
