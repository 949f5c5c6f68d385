-- Schedules: jobs that run by themselves, by cron or at intervals.

create table schedules (
  id integer primary key autoincrement,
  uuid text not null,
  room text not null,
  name text not null,
  full_name text not null generated always as (room || ':' || name) stored,
  job_id integer not null references jobs on delete cascade,
  cron text,
  every integer,
  timezone text not null,
  payload text not null,
  priority integer not null,
  max_attempts integer,
  owner text,
  project text,
  tags text,
  missed text not null,
  overlap integer not null,
  created_at integer not null,
  paused_at integer,
  next_run_at integer,
  last_run_at integer,
  constraint schedule_uuids_are_unique unique (uuid),
  constraint schedules_have_one_address unique (room, name),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200),
  constraint schedules_run_by_cron_or_at_intervals check ((cron is null) <> (every is null)),
  constraint intervals_are_possible check (every between 1000000 and 31622400000000),
  constraint priorities_are_known check (priority between 1 and 10),
  constraint attempts_are_possible check (max_attempts between 1 and 10000),
  constraint missed_runs_have_a_rule check (missed in ('once', 'skip', 'each')),
  constraint schedules_run_next_or_are_paused check ((next_run_at is null) = (paused_at is not null))
) strict;
create index schedules_by_address on schedules (full_name);
create index schedules_in_time on schedules (next_run_at);
create index schedules_of_a_job on schedules (job_id);

-- The last fifty runs of each.
create table schedule_runs (
  id integer primary key autoincrement,
  schedule_id integer not null references schedules on delete cascade,
  due_at integer not null,
  task_id integer,
  reason text,
  is_manual integer not null default 0,
  constraint runs_have_a_task_or_a_reason check ((task_id is null) <> (reason is null))
) strict;
create index runs_of_a_schedule on schedule_runs (schedule_id, id);

-- But for those under way that keep others from running.
create trigger old_runs_are_forgotten after insert on schedule_runs begin
  delete from schedule_runs
  where schedule_id = new.schedule_id
    and id <= (
      select o.id from schedule_runs as o where o.schedule_id = new.schedule_id order by o.id desc limit 1 offset 50
    )
    and (
      task_id is null
      or (select s.overlap from schedules as s where s.id = new.schedule_id)
      or not exists (
        select 1 from tasks as t where t.id = schedule_runs.task_id and t.status in ('pending', 'claimed', 'running')
      )
    );
end;

create view schedule as
select
  s.id,
  s.uuid,
  s.full_name,
  s.room,
  s.name,
  j.full_name as job,
  s.cron,
  s.every,
  s.timezone,
  s.priority,
  s.max_attempts,
  s.owner,
  s.project,
  s.tags,
  s.missed,
  s.overlap,
  s.created_at,
  s.paused_at,
  s.next_run_at,
  s.last_run_at,
  case
    when s.paused_at is not null then 'paused'
    when j.deleted_at is not null then 'job retired'
    when j.archived_at is not null then 'job archived'
    when j.paused_at is not null then 'job paused'
    when s.next_run_at < now() - 120000000 then 'overdue'
    else 'active'
  end as state,
  (
    select json_group_array(json_object(
      'due_at', iso_time(r.due_at), 'task_id', iif(r.task_id is null, null, task_uuid(r.task_id, (select k.task_key from secrets as k))),
      'reason', r.reason, 'is_manual', json(iif(r.is_manual, 'true', 'false')),
      'status', iif(
        r.task_id is null, 'skipped', coalesce((select t.status from tasks as t where t.id = r.task_id), 'gone')
      )
    ))
    from (select n.* from schedule_runs as n where n.schedule_id = s.id order by n.id desc limit 10) as r
  ) as recent,
  s.job_id,
  j.uuid as job_uuid
from schedules as s
cross join jobs as j on j.id = s.job_id;

create trigger only_verbs_add_schedules before insert on schedules
when not is_verb_running() begin
  select raise(abort, 'Schedules are changed by verbs only');
end;
create trigger only_verbs_change_schedules before update on schedules
when not is_verb_running() begin
  select raise(abort, 'Schedules are changed by verbs only');
end;
create trigger only_verbs_remove_schedules before delete on schedules
when not is_verb_running() begin
  select raise(abort, 'Schedules are changed by verbs only');
end;
create trigger only_verbs_add_runs before insert on schedule_runs
when not is_verb_running() begin
  select raise(abort, 'Schedules are changed by verbs only');
end;
create trigger only_verbs_change_runs before update on schedule_runs
when not is_verb_running() begin
  select raise(abort, 'Schedules are changed by verbs only');
end;
create trigger only_verbs_remove_runs before delete on schedule_runs
when not is_verb_running() begin
  select raise(abort, 'Schedules are changed by verbs only');
end;
