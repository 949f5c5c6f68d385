-- One task as HTTP shows it, by its public id.
create function pgjobs.show_task(task_uuid uuid)
returns setof pgjobs.task_answer
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  return query
  select a.*
  from pgjobs.task_answer as a
  where a.id = pgjobs.task_id(show_task.task_uuid) and (v_rooms is null or a.room = any (v_rooms));
  if not found then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', show_task.task_uuid));
  end if;
end
$$;

comment on function pgjobs.show_task is
  'One task as HTTP shows it. Example: select status, queue_position from pgjobs.show_task(pgjobs.task_uuid(42))';
