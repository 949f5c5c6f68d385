-- Asks for NOTIFY pgjobs.ended with the task's number when it ends, and answers
-- its status now. Whoever waits must look again from time to time all the same.
create function pgjobs.watch_task(task_id bigint)
returns table (status text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_until bigint := extract(epoch from clock_timestamp())::bigint + 300;
begin
  insert into pgjobs.watched (task_id, since) values (watch_task.task_id, pgjobs._now()) on conflict do nothing;
  if (select s.last_value from pgjobs.watched_until as s) < v_until - 60 then
    perform setval('pgjobs.watched_until', v_until);
  end if;
  return query select t.status from pgjobs.task as t where t.id = watch_task.task_id and (v_rooms is null or t.room = any (v_rooms));
  if not found then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', watch_task.task_id));
  end if;
end
$$;

comment on function pgjobs.watch_task is
  'Asks to be told when a task ends. Example: listen "pgjobs.ended"; select * from pgjobs.watch_task(42)';
