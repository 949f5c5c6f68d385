-- One task as the console shows it, with its payload, its result, its queue position and
-- the id of the trace it belongs to.
create function pgjobs.inspect_task(task_uuid uuid)
returns table (document jsonb, payload jsonb, result jsonb, queue_position integer, trace_id text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint := pgjobs.task_id(inspect_task.task_uuid);
begin
  if not exists (
    select from pgjobs.tasks as t where t.id = v_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', inspect_task.task_uuid));
  end if;
  return query
  select
    pgjobs._seen_task(v), pgjobs._shown_payload(t.payload, c.show_secrets), pgjobs._shown_payload(o.result, c.show_secrets),
    case when v.status = 'pending' and v.phase not in ('sleeping', 'waiting', 'dependent', 'held') then pgjobs._queue_position(v.id, v.job_id, v.priority) end,
    substr(t.trace_context, 4, 32)
  from pgjobs.task as v
  join pgjobs.tasks as t on t.id = v.id
  left join pgjobs.outcomes as o on o.task_id = v.id
  cross join pgjobs.settings as c
  where v.id = v_id;
end
$$;

comment on function pgjobs.inspect_task is
  'One task as the console shows it. Example: select document ->> ''status'', payload from pgjobs.inspect_task(pgjobs.task_uuid(42))';
