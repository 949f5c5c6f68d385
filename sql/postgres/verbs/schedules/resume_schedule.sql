-- Lets a paused schedule run again, from its next time on: what it would have run
-- meanwhile is not made up for.
create function pgjobs.resume_schedule(schedule text, actor text default null, reason text default null)
returns setof pgjobs.schedule
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_schedule pgjobs.schedules := pgjobs._find_schedule(resume_schedule.schedule, locks => true);
begin
  update pgjobs.schedules as s
  set paused_at = null, next_run_at = pgjobs._next_run(s.cron, s.every, s.timezone, null, pgjobs._now())
  where s.id = v_schedule.id and s.paused_at is not null;
  if found then
    perform pgjobs._record_schedule(v_schedule, 'schedule_resumed', resume_schedule.actor, resume_schedule.reason);
    perform pg_notify('pgjobs.schedules', '');
  end if;
  return query select v.* from pgjobs.schedule as v where v.id = v_schedule.id;
end
$$;

comment on function pgjobs.resume_schedule is
  'Resumes a schedule. Example: select * from pgjobs.resume_schedule(''@global:nightly'')';
