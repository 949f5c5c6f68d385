-- What a task's payload is after somebody edited what they were shown of it: secrets that
-- were hidden and left as shown are put back. For the server, which checks it before it is submitted.
create function pgjobs.restore_payload(task_uuid uuid, payload jsonb)
returns table (job text, room text, restored jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_id bigint := pgjobs.task_id(restore_payload.task_uuid);
begin
  return query
  select j.full_name, t.room,
    pgjobs._unhidden(restore_payload.payload, pgjobs._shown_payload(t.payload, c.show_secrets), t.payload)
  from pgjobs.tasks as t
  join pgjobs.jobs as j on j.id = t.job_id
  cross join pgjobs.settings as c
  where t.id = v_id;
  if not found then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', restore_payload.task_uuid));
  end if;
end
$$;

comment on function pgjobs.restore_payload is
  'An edited payload with hidden secrets put back. Example: select restored from pgjobs.restore_payload(pgjobs.task_uuid(42), ''{"to": "ada"}'')';
