-- One task with its payload and result, by number or public id.
create function pgjobs.get_task(task_id bigint default null, task_uuid uuid default null)
returns setof pgjobs.task_document
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint := coalesce(get_task.task_id, pgjobs.task_id(get_task.task_uuid));
begin
  return query
  select d.*
  from pgjobs.task_document as d
  where d.id = v_id and (v_rooms is null or d.room = any (v_rooms));
  if not found then
    perform pgjobs._refuse('task-not-found',
      format('Task %s does not exist', coalesce(get_task.task_id::text, get_task.task_uuid::text)));
  end if;
end
$$;

comment on function pgjobs.get_task is
  'One task with payload and result. Example: select status, payload, result from pgjobs.get_task(42)';
