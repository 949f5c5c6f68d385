-- Schedules for people: how they stand, and how their last runs went.

create view pgjobs.schedule as
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
    when s.next_run_at < pgjobs._present() - interval '2 minutes' then 'overdue'
    else 'active'
  end as state,
  (
    select coalesce(jsonb_agg(jsonb_build_object(
      'due_at', pgjobs._known_moment(r.due_at), 'task_id', pgjobs._uuid_of(r.task_id, (select k.task_key from pgjobs.secrets as k)),
      'reason', r.reason, 'is_manual', r.is_manual,
      -- Not by status_of: called for each run, it took half as long again.
      'status', case when r.task_id is null then 'skipped' else coalesce(
        (select o.status from pgjobs.outcomes as o where o.task_id = r.task_id),
        (
          select case when l.started_at is null then 'claimed' else 'running' end as status
          from pgjobs.leases as l
          where l.task_id = r.task_id
        ),
        (select 'ignored' as status from pgjobs.ignored as i where i.task_id = r.task_id),
        (select 'pending' as status from pgjobs.tasks as t where t.id = r.task_id),
        'gone'
      ) end
    ) order by r.id desc), '[]')
    from (select n.* from pgjobs.schedule_runs as n where n.schedule_id = s.id order by n.id desc limit 10) as r
  ) as recent,
  s.job_id,
  j.uuid as job_uuid
from pgjobs.schedules as s
join pgjobs.jobs as j on j.id = s.job_id;

comment on view pgjobs.schedule is
  'Every schedule, without its payload. Example: select full_name, job, cron, every, next_run_at, state from pgjobs.schedule';
comment on column pgjobs.schedule.id is 'Internal number.';
comment on column pgjobs.schedule.uuid is 'Public id.';
comment on column pgjobs.schedule.full_name is 'The address, room:name.';
comment on column pgjobs.schedule.room is 'Where its tasks are submitted from.';
comment on column pgjobs.schedule.name is 'What people call it.';
comment on column pgjobs.schedule.job is 'Address of the job it runs.';
comment on column pgjobs.schedule.cron is 'When, as five fields of cron.';
comment on column pgjobs.schedule.every is 'Or the interval.';
comment on column pgjobs.schedule.timezone is 'Whose clocks cron goes by.';
comment on column pgjobs.schedule.priority is 'Of its tasks: 1 (most urgent) to 10.';
comment on column pgjobs.schedule.max_attempts is 'Of its tasks; empty: as many as the job says.';
comment on column pgjobs.schedule.owner is 'Whose work its tasks are.';
comment on column pgjobs.schedule.project is 'What its tasks belong to.';
comment on column pgjobs.schedule.tags is 'Free words to find its tasks by.';
comment on column pgjobs.schedule.missed is 'What happens to missed runs: once (one run for all of them), skip or each.';
comment on column pgjobs.schedule.overlap is 'Whether a run may begin before the last one has ended.';
comment on column pgjobs.schedule.created_at is 'When it was first registered.';
comment on column pgjobs.schedule.paused_at is 'Since when it is paused.';
comment on column pgjobs.schedule.next_run_at is 'When it runs next.';
comment on column pgjobs.schedule.last_run_at is 'When its last run was due.';
comment on column pgjobs.schedule.state is
  'active; paused; overdue when no process starts its runs; or why they do not run: job paused, job archived, job retired.';
comment on column pgjobs.schedule.recent is 'Its last ten runs, the newest first, each with its task''s status, or why there is no task.';
comment on column pgjobs.schedule.job_id is 'Number of its job.';
comment on column pgjobs.schedule.job_uuid is 'Public id of its job.';

-- Not granted to anyone: payloads leave through get_schedule only.
create view pgjobs.schedule_document as
select
  v.*,
  pgjobs._shown_payload(s.payload, (select c.show_secrets from pgjobs.settings as c)) as payload,
  case
    when s.paused_at is null then pgjobs._upcoming_runs(s.cron, s.every, s.timezone, s.next_run_at, 5) else '{}'
  end as upcoming
from pgjobs.schedule as v
join pgjobs.schedules as s on s.id = v.id;

comment on view pgjobs.schedule_document is
  'A schedule with its payload and its next five runs. Example: select payload, upcoming from pgjobs.get_schedule(''@global:nightly'')';
