-- What happened to a task, the last of it, oldest first. Pass the first row's `seq`
-- as `before` to see what came earlier.
--
-- One task's events are written one after the other, so their numbers are in order;
-- of many tasks they are not, and readers that must not miss one use list_events.
create function pgjobs.list_task_events(task_id bigint, before bigint default null, page_size integer default 500)
returns table (
  seq bigint,
  at timestamptz,
  kind text,
  status text,
  worker_id uuid,
  actor text,
  message text,
  fields jsonb
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
begin
  perform pgjobs._check_page(list_task_events.page_size, 0);
  if not exists (
    select from pgjobs.tasks as t where t.id = list_task_events.task_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', list_task_events.task_id));
  end if;
  return query
  select l.id, l.at, l.kind, l.status, l.worker_id, l.actor, l.message, l.fields
  from (
    select e.*
    from pgjobs.events as e
    where e.task_id = list_task_events.task_id
      and e.id < coalesce(list_task_events.before, 9223372036854775807)
    order by e.id desc
    limit list_task_events.page_size
  ) as l
  order by l.id;
end
$$;

comment on function pgjobs.list_task_events is
  'The events of a task. Example: select at, kind, message from pgjobs.list_task_events(42)';
