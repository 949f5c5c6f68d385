-- Schedules: jobs that run by themselves, by cron or at intervals, by the database's clock.

create table pgjobs.schedules (
  id integer generated always as identity primary key,
  uuid uuid not null default gen_random_uuid(),
  room text not null,
  name text not null,
  full_name text not null generated always as (room || ':' || name) stored,
  job_id integer not null references pgjobs.jobs on delete cascade,
  cron text,
  every interval,
  timezone text not null,
  payload jsonb not null,
  priority smallint not null,
  max_attempts smallint,
  owner text,
  project text,
  tags text[],
  missed text not null,
  overlap boolean not null,
  created_at timestamptz not null,
  paused_at timestamptz,
  next_run_at timestamptz,
  last_run_at timestamptz,
  constraint schedule_uuids_are_unique unique (uuid),
  constraint schedules_have_one_address unique (room, name),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200),
  constraint schedules_run_by_cron_or_at_intervals check (num_nonnulls(cron, every) = 1),
  constraint intervals_are_possible check (every between interval '1 second' and interval '366 days'),
  constraint priorities_are_known check (priority between 1 and 10),
  constraint attempts_are_possible check (max_attempts between 1 and 10000),
  constraint missed_runs_have_a_rule check (missed in ('once', 'skip', 'each')),
  constraint schedules_run_next_or_are_paused check ((next_run_at is null) = (paused_at is not null))
);
create index schedules_by_address on pgjobs.schedules (full_name);
create index schedules_in_time on pgjobs.schedules (next_run_at);
create index schedules_of_a_job on pgjobs.schedules (job_id);

comment on table pgjobs.schedules is 'When jobs run by themselves.';
comment on column pgjobs.schedules.id is 'Internal number.';
comment on column pgjobs.schedules.uuid is 'Public id.';
comment on column pgjobs.schedules.room is 'Where its tasks are submitted from.';
comment on column pgjobs.schedules.name is 'What people call it, once in a room.';
comment on column pgjobs.schedules.full_name is 'The address, room:name.';
comment on column pgjobs.schedules.job_id is 'What to run.';
comment on column pgjobs.schedules.cron is 'When, as five fields of cron.';
comment on column pgjobs.schedules.every is 'Or how often.';
comment on column pgjobs.schedules.timezone is 'Whose clocks cron goes by.';
comment on column pgjobs.schedules.payload is 'What to run it with.';
comment on column pgjobs.schedules.priority is 'Of its tasks: 1 (most urgent) to 10.';
comment on column pgjobs.schedules.max_attempts is 'Of its tasks; empty: as many as the job says.';
comment on column pgjobs.schedules.owner is 'Whose work its tasks are.';
comment on column pgjobs.schedules.project is 'What its tasks belong to.';
comment on column pgjobs.schedules.tags is 'Free words to find its tasks by.';
comment on column pgjobs.schedules.missed is
  'When nobody was there to start runs: once makes up for all by one, each for each by one, skip waits for the next.';
comment on column pgjobs.schedules.overlap is 'Whether a run may begin before the last one has ended.';
comment on column pgjobs.schedules.created_at is 'When it was first registered.';
comment on column pgjobs.schedules.paused_at is 'Set while it does not run.';
comment on column pgjobs.schedules.next_run_at is 'When it runs next; empty while it is paused.';
comment on column pgjobs.schedules.last_run_at is 'When its last run was due.';

create table pgjobs.schedule_runs (
  schedule_id integer not null references pgjobs.schedules on delete cascade,
  id bigint generated always as identity,
  due_at timestamptz not null,
  task_id bigint,
  reason text,
  is_manual boolean not null default false,
  primary key (schedule_id, id),
  constraint runs_have_a_task_or_a_reason check (num_nonnulls(task_id, reason) = 1)
);

comment on table pgjobs.schedule_runs is 'The last fifty runs of each schedule.';
comment on column pgjobs.schedule_runs.schedule_id is 'The schedule.';
comment on column pgjobs.schedule_runs.id is 'In order of starting.';
comment on column pgjobs.schedule_runs.due_at is 'When it was due.';
comment on column pgjobs.schedule_runs.task_id is 'Its task.';
comment on column pgjobs.schedule_runs.reason is 'Why there is none.';
comment on column pgjobs.schedule_runs.is_manual is 'Whether somebody asked for it out of turn.';
