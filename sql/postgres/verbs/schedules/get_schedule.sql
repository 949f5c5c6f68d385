-- One schedule with its payload and its next five runs, none while it is paused, by number, public id or address.
create function pgjobs.get_schedule(schedule text)
returns setof pgjobs.schedule_document
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_id integer := (pgjobs._find_schedule(get_schedule.schedule)).id;
begin
  return query select d.* from pgjobs.schedule_document as d where d.id = v_id;
end
$$;

comment on function pgjobs.get_schedule is
  'One schedule with its payload and next runs. Example: select state, payload, upcoming from pgjobs.get_schedule(''@global:nightly'')';
