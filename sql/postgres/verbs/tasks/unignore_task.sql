-- Puts an ignored task back in line: due now, no attempts used.
create function pgjobs.unignore_task(task_id bigint, actor text default null, reason text default null)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform from pgjobs.unignore_tasks(array[unignore_task.task_id], actor => unignore_task.actor, reason => unignore_task.reason) as a
  where a.problem is not null;
  if found then
    perform pgjobs._refuse_step(unignore_task.task_id, 'unignore', 'ignored');
  end if;
  return query select t.* from pgjobs.task as t where t.id = unignore_task.task_id;
end
$$;

comment on function pgjobs.unignore_task is
  'Stops ignoring a task: it returns to the queue. Example: select status from pgjobs.unignore_task(42, actor => current_user)';
