-- pause_schedule(schedule text, actor text = null, reason text = null)
--
-- Keeps a schedule from running until it is resumed; what it has submitted goes on.
-- include find_schedule
update schedules set paused_at = coalesce(paused_at, now()), next_run_at = null where id = :v_schedule;
select 'schedule_paused' as v_kind, null as v_run_task;
-- include record_schedule
select v.* from schedule as v where v.id = :v_schedule;
