-- Starts a task over: due now, no attempts used, its history kept. For tasks
-- that failed, were cancelled or ignored, or wait for a later time.
create function pgjobs.retry_task(task_id bigint, actor text default null, reason text default null)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform from pgjobs.retry_tasks(array[retry_task.task_id], actor => retry_task.actor, reason => retry_task.reason) as a
  where a.problem is not null;
  if found then
    perform pgjobs._refuse_step(retry_task.task_id, 'retry', 'failed, cancelled, ignored and scheduled');
  end if;
  return query select t.* from pgjobs.task as t where t.id = retry_task.task_id;
end
$$;

comment on function pgjobs.retry_task is
  'Retries a task from the beginning. Example: select status, attempt from pgjobs.retry_task(42, actor => current_user)';
