-- Runs a schedule now, out of turn, also while it is paused; its next run stays as it is.
create function pgjobs.run_schedule(schedule text, actor text default null, reason text default null)
returns table (task_id bigint, task_uuid uuid)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_schedule pgjobs.schedules := pgjobs._find_schedule(run_schedule.schedule);
begin
  -- It stays, and runs in its turn meanwhile.
  perform from pgjobs.schedules as s where s.id = v_schedule.id for key share;
  if not found then
    perform pgjobs._find_schedule(run_schedule.schedule);
  end if;
  task_id := pgjobs._submit_run(v_schedule);
  task_uuid := pgjobs.task_uuid(task_id);
  perform pgjobs._note_run(v_schedule, pgjobs._now(), task_id, null, true);
  perform pgjobs._record_schedule(v_schedule, 'schedule_run', run_schedule.actor, run_schedule.reason, task_id);
  return next;
end
$$;

comment on function pgjobs.run_schedule is
  'Runs a schedule now, besides its times. Example: select task_id from pgjobs.run_schedule(''@global:nightly'')';
