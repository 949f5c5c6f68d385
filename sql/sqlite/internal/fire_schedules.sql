-- Runs up to :v_fire of the schedules that are due, and settles when they are due next;
-- :v_fired and :v_skipped say how many. A task's key names schedule and time: a run
-- that is due once is submitted once. One that cannot be due any more is paused.
select coalesce(json_group_array(json_object(
  'id', d.id, 'due', d.next_run_at, 'key', 'schedule ' || d.id || ' ' || substr(iso_time(d.next_run_at), 1, 19) || 'Z',
  'reason', case
    when d.missed = 'skip' and now() - d.next_run_at > 60000000
      then 'Missed: nobody started it for ' || short_duration((now() - d.next_run_at) / 1e6)
    when not d.overlap
      and exists (
        select 1
        from schedule_runs as r
        cross join tasks as t on t.id = r.task_id
        where r.schedule_id = d.id and t.status in ('pending', 'claimed', 'running')
      )
      then 'A run before it has not ended'
    when j.deleted_at is not null then 'Job ' || j.full_name || ' does not exist'
    when j.archived_at is not null then 'Job ' || j.full_name || ' is archived'
  end
)), '[]') as v_due_schedules
from (select s.* from schedules as s where s.next_run_at <= now() order by s.next_run_at, s.id limit :v_fire) as d
cross join jobs as j on j.id = d.job_id;
insert into lanes (job_id, priority)
select s.job_id, s.priority
from json_each(:v_due_schedules) as d
cross join schedules as s on s.id = json_extract(d.value, '$.id')
where true
on conflict do nothing;
insert into tasks (
  job_id, room, priority, max_attempts, created_at, is_ready, due_at, submitter, owner, project, tags, idempotency_key, payload
)
select
  s.job_id, s.room, s.priority, coalesce(s.max_attempts, j.max_attempts), now(), true, json_extract(d.value, '$.due'),
  substr('schedule ' || s.full_name, 1, 200), s.owner, s.project, s.tags, json_extract(d.value, '$.key'), s.payload
from json_each(:v_due_schedules) as d
cross join schedules as s on s.id = json_extract(d.value, '$.id')
cross join jobs as j on j.id = s.job_id
where json_extract(d.value, '$.reason') is null
on conflict do nothing;
insert into schedule_runs (schedule_id, due_at, task_id, reason)
select
  s.id, json_extract(d.value, '$.due'),
  (
    select t.id from tasks as t
    where json_extract(d.value, '$.reason') is null
      and t.job_id = s.job_id and t.idempotency_key = json_extract(d.value, '$.key')
  ),
  json_extract(d.value, '$.reason')
from json_each(:v_due_schedules) as d
cross join schedules as s on s.id = json_extract(d.value, '$.id');
insert into events (at, kind, task_id, job_id, room, message, fields)
select
  now(), iif(r.task_id is null, 'schedule_skipped', 'schedule_fired'), r.task_id, s.job_id, s.room, r.reason,
  json_object('schedule', s.full_name, 'schedule_id', s.uuid)
from json_each(:v_due_schedules) as d
cross join schedules as s on s.id = json_extract(d.value, '$.id')
cross join schedule_runs as r on r.id = (select max(n.id) from schedule_runs as n where n.schedule_id = s.id);
update schedules
set
  next_run_at = n.next_run_at,
  paused_at = iif(n.next_run_at is null, now(), null),
  last_run_at = iif(n.task_id is null, schedules.last_run_at, schedules.next_run_at)
from (
  select s.id, r.task_id, next_run(
    s.cron, s.every, s.timezone, s.next_run_at, iif(s.missed = 'each', s.next_run_at, now())
  ) as next_run_at
  from json_each(:v_due_schedules) as d
  cross join schedules as s on s.id = json_extract(d.value, '$.id')
  cross join schedule_runs as r on r.id = (select max(m.id) from schedule_runs as m where m.schedule_id = s.id)
) as n
where schedules.id = n.id;
insert into events (at, kind, job_id, room, message, fields)
select
  now(), 'schedule_paused', s.job_id, s.room, 'It never comes again, or its time zone is gone',
  json_object('schedule', s.full_name, 'schedule_id', s.uuid)
from json_each(:v_due_schedules) as d
cross join schedules as s on s.id = json_extract(d.value, '$.id')
where s.paused_at is not null;
select
  count(*) filter (where json_extract(d.value, '$.reason') is null) as v_fired,
  count(*) filter (where json_extract(d.value, '$.reason') is not null) as v_skipped
from json_each(:v_due_schedules) as d;
