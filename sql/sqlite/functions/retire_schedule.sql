-- retire_schedule(schedule text, actor text = null, reason text = null)
--
-- Removes a schedule. What it has submitted stays.
-- include find_schedule
select 'schedule_retired' as v_kind, null as v_run_task;
-- include record_schedule
select s.full_name as v_full_name, json_array(s.job_id) as v_left_jobs, null as v_unkept from schedules as s where s.id = :v_schedule;
delete from schedules where id = :v_schedule;
-- include retire_orphans
select :v_schedule as schedule_id, :v_full_name as full_name;
