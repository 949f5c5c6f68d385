-- Removes a schedule. What it has submitted stays.
create function pgjobs.retire_schedule(schedule text, actor text default null, reason text default null)
returns table (schedule_id integer, full_name text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_schedule pgjobs.schedules := pgjobs._find_schedule(retire_schedule.schedule, locks => true);
begin
  delete from pgjobs.schedules as s where s.id = v_schedule.id;
  perform pgjobs._record_schedule(v_schedule, 'schedule_retired', retire_schedule.actor, retire_schedule.reason);
  perform pgjobs._retire_orphans(array[v_schedule.job_id], pgjobs._now());
  schedule_id := v_schedule.id;
  full_name := v_schedule.full_name;
  return next;
end
$$;

comment on function pgjobs.retire_schedule is
  'Removes a schedule. Example: select * from pgjobs.retire_schedule(''@global:nightly'')';
