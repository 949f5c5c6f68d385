-- Puts a pending or failed task aside until somebody unignores or retries it.
create function pgjobs.ignore_task(task_id bigint, actor text default null, reason text default null)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform from pgjobs.ignore_tasks(array[ignore_task.task_id], actor => ignore_task.actor, reason => ignore_task.reason) as a
  where a.problem is not null;
  if found then
    perform pgjobs._refuse_step(ignore_task.task_id, 'ignore', 'pending and failed');
  end if;
  return query select t.* from pgjobs.task as t where t.id = ignore_task.task_id;
end
$$;

comment on function pgjobs.ignore_task is
  'Ignores a task. Example: select status from pgjobs.ignore_task(42, actor => current_user, reason => ''target is gone'')';
