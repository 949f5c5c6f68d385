-- run_schedule(schedule text, actor text = null, reason text = null)
--
-- Runs a schedule now, out of turn, also while it is paused; its next run stays as it is.
-- include find_schedule
select
  json_array(s.payload) as v_payload, s.room as v_room, s.priority as v_priority,
  s.max_attempts as v_max_attempts, substr('schedule ' || s.full_name, 1, 200) as v_submitter, s.owner as v_owner, s.project as v_project,
  s.tags as v_tags, cast(s.job_id as text) as v_job
from schedules as s
where s.id = :v_schedule;
-- call submit_tasks(
--   job => :v_job, payloads => :v_payload, room => :v_room, priority => :v_priority, max_attempts => :v_max_attempts,
--   submitter => :v_submitter, owner => :v_owner, project => :v_project, tags => :v_tags
-- ) into v_submitted
select 'schedule_run' as v_kind, json_extract(:v_submitted, '$[0].task_id') as v_run_task;
insert into schedule_runs (schedule_id, due_at, task_id, is_manual) values (:v_schedule, now(), :v_run_task, true);
-- include record_schedule
select :v_run_task as task_id, task_uuid(:v_run_task, (select k.task_key from secrets as k)) as task_uuid;
