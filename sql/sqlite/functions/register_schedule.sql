-- register_schedule(
--   name text,
--   job text,
--   cron text = null,
--   every interval = null,
--   timezone text = 'UTC',
--   payload jsonb = '{}',
--   room text = null,
--   priority integer = 5,
--   max_attempts integer = null,
--   missed text = 'once',
--   overlap boolean = true,
--   owner text = null,
--   project text = null,
--   tags text[] = null,
--   actor text = null
-- )
--
-- Has a job run by itself, by cron or every so often, or says how the schedule of this
-- name already stands: `registered` is created, changed or unchanged. What is left out
-- has its default, also when it was something else before.
--
-- A schedule that is registered again keeps its next run, unless its times changed, and
-- stays paused if it is.
select :job as v_address;
-- include find_job
select refuse('validation-error', 'A schedule''s name has 1 to 200 characters')
where :name = '' or length(:name) > 200;
select refuse('validation-error', 'missed must be once, skip or each', 'Got ' || :missed || '.')
where :missed not in ('once', 'skip', 'each');
-- include check_times
select coalesce(:room, j.room) as v_room, json_array(:payload) as v_payloads, false as v_cross_room, null as v_submitter
from jobs as j
where j.id = :v_job;
-- include check_submission
-- include check_labels
select s.id as v_schedule
from schedules as s
where s.room = :v_room and s.name = :name;
select case
  when :v_schedule is null then 'created'
  when exists (
    select 1 from schedules as s
    where s.id = :v_schedule and s.job_id = :v_job and s.cron is :cron and s.every is :every and s.timezone = :timezone
      and is_same_json(s.payload, :payload) and s.priority = :priority and s.max_attempts is :max_attempts
      and s.owner is :owner and s.project is :project and s.tags is :tags and s.missed = :missed and s.overlap = :overlap
  ) then 'unchanged'
  else 'changed'
end as v_registered;
insert into schedules (
  uuid, room, name, job_id, cron, every, timezone, payload, priority, max_attempts, owner, project, tags, missed, overlap,
  created_at, next_run_at
)
select
  uuid4(), :v_room, :name, :v_job, :cron, :every, :timezone, :payload, :priority, :max_attempts, :owner, :project, :tags,
  :missed, :overlap, now(), next_run(:cron, :every, :timezone, null, now())
where :v_registered = 'created';
update schedules
set
  job_id = :v_job,
  cron = :cron,
  every = :every,
  timezone = :timezone,
  payload = :payload,
  priority = :priority,
  max_attempts = :max_attempts,
  owner = :owner,
  project = :project,
  tags = :tags,
  missed = :missed,
  overlap = :overlap,
  next_run_at = case
    when paused_at is not null then null
    when cron is :cron and every is :every and timezone = :timezone then next_run_at
    else next_run(:cron, :every, :timezone, null, now())
  end
where id = :v_schedule and :v_registered = 'changed';
select s.id as v_schedule, iif(:v_registered = 'created', 'schedule_registered', 'schedule_changed') as v_kind
from schedules as s
where s.room = :v_room and s.name = :name;
insert into events (at, kind, job_id, room, actor, fields)
select now(), :v_kind, s.job_id, s.room, :actor, json_object('schedule', s.full_name, 'schedule_id', s.uuid)
from schedules as s
where s.id = :v_schedule and :v_registered <> 'unchanged';
insert into notifications (at, channel, payload)
select now(), 'schedules', '' where :v_registered <> 'unchanged';
select :v_schedule as schedule_id, :v_registered as registered;
