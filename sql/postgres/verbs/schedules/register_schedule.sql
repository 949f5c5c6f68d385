-- Has a job run by itself, by cron or every so often, or says how the schedule of this
-- name already stands: `registered` is created, changed or unchanged. What is left out
-- has its default, also when it was something else before.
--
-- A schedule that is registered again keeps its next run, unless its times changed, and
-- stays paused if it is.
create function pgjobs.register_schedule(
  name text,
  job text,
  cron text default null,
  every interval default null,
  timezone text default 'UTC',
  payload jsonb default '{}',
  room text default null,
  priority integer default 5,
  max_attempts integer default null,
  missed text default 'once',
  overlap boolean default true,
  owner text default null,
  project text default null,
  tags text[] default null,
  actor text default null
)
returns table (schedule_id integer, registered text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_job pgjobs.jobs := pgjobs._find_job(register_schedule.job);
  v_room text := coalesce(register_schedule.room, v_job.room);
  v_schedule pgjobs.schedules;
  v_is_new boolean;
begin
  perform pgjobs._check_schedule(
    register_schedule.name, register_schedule.cron, register_schedule.every, register_schedule.timezone, register_schedule.missed
  );
  perform pgjobs._check_submission(
    v_job, array[register_schedule.payload], v_room, register_schedule.priority, null, register_schedule.max_attempts, null,
    false, false
  );
  perform pgjobs._check_labels(null, register_schedule.owner, register_schedule.project, register_schedule.tags);
  -- The update locks the row, so that two first registrations see one another.
  insert into pgjobs.schedules as s (
    room, name, job_id, cron, every, timezone, payload, priority, max_attempts, owner, project, tags, missed, overlap,
    created_at, next_run_at
  )
  values (
    v_room, register_schedule.name, v_job.id, register_schedule.cron, register_schedule.every, register_schedule.timezone,
    register_schedule.payload, register_schedule.priority, register_schedule.max_attempts, register_schedule.owner,
    register_schedule.project, register_schedule.tags, register_schedule.missed, register_schedule.overlap, v_now,
    pgjobs._next_run(register_schedule.cron, register_schedule.every, register_schedule.timezone, null, v_now)
  )
  on conflict (room, name) do update set name = s.name
  returning s.id, s.xmax = 0 into schedule_id, v_is_new;
  select s.* into v_schedule from pgjobs.schedules as s where s.id = register_schedule.schedule_id;
  update pgjobs.schedules as s
  set
    job_id = v_job.id,
    cron = register_schedule.cron,
    every = register_schedule.every,
    timezone = register_schedule.timezone,
    payload = register_schedule.payload,
    priority = register_schedule.priority,
    max_attempts = register_schedule.max_attempts,
    owner = register_schedule.owner,
    project = register_schedule.project,
    tags = register_schedule.tags,
    missed = register_schedule.missed,
    overlap = register_schedule.overlap,
    next_run_at = case
      when s.paused_at is not null then null
      when (s.cron, s.every, s.timezone)
        is not distinct from (register_schedule.cron, register_schedule.every, register_schedule.timezone) then s.next_run_at
      else pgjobs._next_run(register_schedule.cron, register_schedule.every, register_schedule.timezone, null, v_now)
    end
  where s.id = v_schedule.id
    and (
      s.job_id, s.cron, s.every, s.timezone, s.payload, s.priority::integer, s.max_attempts::integer, s.owner, s.project, s.tags,
      s.missed, s.overlap
    ) is distinct from (
      v_job.id, register_schedule.cron, register_schedule.every, register_schedule.timezone, register_schedule.payload,
      register_schedule.priority, register_schedule.max_attempts, register_schedule.owner, register_schedule.project,
      register_schedule.tags, register_schedule.missed, register_schedule.overlap
    );
  registered := case when v_is_new then 'created' when found then 'changed' else 'unchanged' end;
  if registered <> 'unchanged' then
    perform pgjobs._record_schedule(
      v_schedule, case registered when 'created' then 'schedule_registered' else 'schedule_changed' end,
      register_schedule.actor, null
    );
    perform pg_notify('pgjobs.schedules', '');
  end if;
  return next;
end
$$;

comment on function pgjobs.register_schedule is
  'Registers a schedule. Example: select * from pgjobs.register_schedule(''nightly'', ''@global:modifiers:Rotate'', cron => ''30 2 * * *'', timezone => ''Europe/Berlin'')';
