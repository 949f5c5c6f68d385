-- Keeps a schedule from running until it is resumed; tasks it has submitted continue.
create function pgjobs.pause_schedule(schedule text, actor text default null, reason text default null)
returns setof pgjobs.schedule
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_schedule pgjobs.schedules := pgjobs._find_schedule(pause_schedule.schedule, locks => true);
begin
  update pgjobs.schedules as s
  set paused_at = coalesce(s.paused_at, pgjobs._now()), next_run_at = null
  where s.id = v_schedule.id;
  perform pgjobs._record_schedule(v_schedule, 'schedule_paused', pause_schedule.actor, pause_schedule.reason);
  return query select v.* from pgjobs.schedule as v where v.id = v_schedule.id;
end
$$;

comment on function pgjobs.pause_schedule is
  'Pauses a schedule. Example: select * from pgjobs.pause_schedule(''@global:nightly'')';
