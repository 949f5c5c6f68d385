-- Cancels a task. A pending one ends at once; the worker of a claimed or running
-- one is asked to stop and learns of it at its next renew or progress report.
-- With `force` it ends now, and its holder's token is worth nothing.
create function pgjobs.cancel_task(
  task_id bigint, reason text default null, force boolean default false, actor text default null
)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform from pgjobs.cancel_tasks(
    array[cancel_task.task_id], reason => cancel_task.reason, force => cancel_task.force, actor => cancel_task.actor
  ) as a
  where a.problem is not null;
  if found then
    perform pgjobs._refuse_step(cancel_task.task_id, 'cancel', 'pending, claimed and running');
  end if;
  return query select t.* from pgjobs.task as t where t.id = cancel_task.task_id;
end
$$;

comment on function pgjobs.cancel_task is
  'Cancels a task. Example: select status, reason from pgjobs.cancel_task(42, ''asked by the owner'')';
