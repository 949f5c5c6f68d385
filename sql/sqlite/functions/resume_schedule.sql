-- resume_schedule(schedule text, actor text = null, reason text = null)
--
-- Lets a paused schedule run again, from its next time on: what it would have run
-- meanwhile is not made up for.
-- include find_schedule
update schedules
set paused_at = null, next_run_at = next_run(cron, every, timezone, null, now())
where id = :v_schedule and paused_at is not null;
select 'schedule_resumed' as v_kind, null as v_run_task;
-- include record_schedule
insert into notifications (at, channel, payload) values (now(), 'schedules', '');
select v.* from schedule as v where v.id = :v_schedule;
