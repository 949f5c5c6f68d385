-- Starts a task over: due now, no attempts used, its history kept. For tasks
-- that failed, were cancelled or ignored, or wait for a later time.
create function pgjobs.retry_task(task_id bigint, actor text default null, reason text default null)
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
declare
  v_now timestamptz := pgjobs.now();
begin
  perform from pgjobs.take_outcome(retry_task.task_id, array['failed', 'cancelled']);
  if not found then
    delete from pgjobs.ignored as i where i.task_id = retry_task.task_id;
  end if;
  if not found then
    delete from pgjobs.scheduled as s where s.task_id = retry_task.task_id;
  end if;
  if not found then
    perform pgjobs.refuse_step(retry_task.task_id, 'retry', 'failed, cancelled, ignored and scheduled');
  end if;
  perform pgjobs.enter_lane(retry_task.task_id, v_now);
  perform pgjobs.record_action(retry_task.task_id, 'retried', 'pending', retry_task.actor, retry_task.reason, v_now);
  return query select t.* from pgjobs.task as t where t.id = retry_task.task_id;
end
$$;

comment on function pgjobs.retry_task is
  'Starts a task over. Example: select status, attempt from pgjobs.retry_task(42, actor => current_user)';
