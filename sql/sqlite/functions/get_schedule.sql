-- get_schedule(schedule text)
--
-- One schedule with its payload and its next five runs, none while it is paused, by number, public id or address.
-- include find_schedule
with recursive runs as (
  select s.next_run_at as run_at, 1 as place
  from schedules as s
  where s.id = :v_schedule
  union all
  select next_run(s.cron, s.every, s.timezone, r.run_at, r.run_at), r.place + 1
  from runs as r
  cross join schedules as s on s.id = :v_schedule
  where r.place < 5 and r.run_at is not null
)
select
  v.*,
  iif((select c.show_secrets from settings as c), s.payload, redact_document(s.payload)) as payload,
  (select json_group_array(r.run_at) from runs as r where r.run_at is not null) as upcoming
from schedule as v
cross join schedules as s on s.id = v.id
where v.id = :v_schedule;
