-- resume_schedule(schedule text, actor text = null, reason text = null)
--
-- Lets a paused schedule run again, from its next time on: what it would have run
-- meanwhile is not made up for.
-- include find_schedule
select iif(s.paused_at is null, null, 'schedule_resumed') as v_kind, null as v_run_task
from schedules as s
where s.id = :v_schedule;
update schedules
set paused_at = null, next_run_at = next_run(cron, every, timezone, null, now())
where id = :v_schedule and paused_at is not null;
-- include record_schedule
insert into notifications (at, channel, payload)
select now(), 'schedules', '' where :v_kind is not null;
select v.* from schedule as v where v.id = :v_schedule;
