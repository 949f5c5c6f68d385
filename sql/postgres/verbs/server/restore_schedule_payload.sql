-- What a schedule's payload is after somebody edited what they were shown of it: secrets
-- that were hidden and left as shown are put back. For the server, which checks it before it is kept.
create function pgjobs.restore_schedule_payload(schedule text, payload jsonb)
returns table (restored jsonb)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_schedule pgjobs.schedules := pgjobs._find_schedule(restore_schedule_payload.schedule);
begin
  return query
  select pgjobs._unhidden(
    restore_schedule_payload.payload, pgjobs._shown_payload(v_schedule.payload, c.show_secrets), v_schedule.payload
  )
  from pgjobs.settings as c;
end
$$;

comment on function pgjobs.restore_schedule_payload is
  'An edited payload with hidden secrets put back. Example: select restored from pgjobs.restore_schedule_payload(''@global:nightly'', ''{"to": "ada"}'')';
