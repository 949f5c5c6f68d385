-- Records that :v_kind, unless it is null, happened to :v_schedule, by :actor for :reason, with the task :v_run_task, if any.
insert into events (at, kind, task_id, job_id, room, actor, message, fields)
select
  now(), :v_kind, :v_run_task, s.job_id, s.room, :actor, redact_line(:reason),
  json_object('schedule', s.full_name, 'schedule_id', s.uuid)
from schedules as s
where s.id = :v_schedule and :v_kind is not null;
