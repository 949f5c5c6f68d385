-- Tasks that take their workers down again and again are quarantined, and owners have quotas.
alter table pgjobs.settings add column quarantine_after integer not null default 5;
alter table pgjobs.settings
add constraint quarantine_is_counted check (quarantine_after between 0 and 10000) not valid;
alter table pgjobs.settings validate constraint quarantine_is_counted;
comment on column pgjobs.settings.quarantine_after is
  'So many attempts in a row whose worker was lost put a task into quarantine; 0: none do.';

alter table pgjobs.jobs
add column quarantine_after integer,
add column is_metered boolean not null default false,
add column is_capped boolean not null default false;
alter table pgjobs.jobs
add constraint quarantine_is_counted check (quarantine_after between 0 and 10000) not valid;
alter table pgjobs.jobs validate constraint quarantine_is_counted;
comment on column pgjobs.jobs.quarantine_after is
  'The same for this job, also for attempts in a row that failed with the same kind of error.';
comment on column pgjobs.jobs.is_metered is 'Whether submits of its tasks may count towards a quota.';
comment on column pgjobs.jobs.is_capped is 'Whether a quota may say how many of its tasks run.';

alter table pgjobs.ignored add column is_quarantined boolean not null default false;
comment on column pgjobs.ignored.is_quarantined is 'Whether it is in quarantine because its attempts end in the same way.';

create table pgjobs.quotas (
  room text not null,
  owner text not null,
  max_waiting integer,
  per_minute integer,
  max_running integer,
  since timestamptz not null,
  primary key (room, owner),
  constraint quotas_are_possible check (
    least(max_waiting, per_minute, max_running) > 0 and greatest(max_waiting, per_minute, max_running) <= 10000000
  )
);

comment on table pgjobs.quotas is
  'What each owner may have in a room. Example: select * from pgjobs.list_quotas()';
comment on column pgjobs.quotas.room is 'The room; empty: every room.';
comment on column pgjobs.quotas.owner is 'The owner; empty: each, and those without one together.';
comment on column pgjobs.quotas.max_waiting is 'How many tasks may wait; empty: another quota decides, or none.';
comment on column pgjobs.quotas.per_minute is 'How many tasks may be submitted in any minute.';
comment on column pgjobs.quotas.max_running is 'How many tasks may be claimed or running.';
comment on column pgjobs.quotas.since is 'Since when it is counted.';

-- What counts towards quotas: a row for each task, never changed; counted by whoever submits.
create table pgjobs.quota_uses (
  room text not null,
  owner text not null,
  task_id bigint not null,
  at timestamptz not null,
  primary key (room, owner, task_id)
);

comment on table pgjobs.quota_uses is 'Tasks that count towards a quota, until they have ended.';
comment on column pgjobs.quota_uses.room is 'Where it was submitted from.';
comment on column pgjobs.quota_uses.owner is 'Whose it is; empty: nobody''s.';
comment on column pgjobs.quota_uses.task_id is 'The task.';
comment on column pgjobs.quota_uses.at is 'When it was submitted.';

-- What an application says about a job that it has ended, so that a repetition is known.
create table pgjobs.completion_tokens (
  task_id bigint primary key,
  token text not null,
  constraint completion_tokens_are_short check (token <> '' and length(token) <= 200)
);

comment on table pgjobs.completion_tokens is 'Under which token of its application a task was ended.';
comment on column pgjobs.completion_tokens.task_id is 'The task.';
comment on column pgjobs.completion_tokens.token is 'The token.';

-- What is known of a task before it ends, besides its progress.
create table pgjobs.kept_results (
  task_id bigint primary key,
  result jsonb not null
);

comment on table pgjobs.kept_results is 'What tasks that have not ended have given so far.';
comment on column pgjobs.kept_results.task_id is 'The task.';
comment on column pgjobs.kept_results.result is 'What it has given.';

-- Queues that are held, with the job types that will be registered in them.
create table pgjobs.queue_controls (
  room text not null,
  category text not null,
  mode text not null,
  since timestamptz not null,
  actor text,
  reason text,
  primary key (room, category),
  constraint queue_modes_are_known check (mode in ('pause', 'drain'))
);

comment on table pgjobs.queue_controls is 'Categories of a room whose jobs are paused, those that come later too.';
comment on column pgjobs.queue_controls.room is 'The room.';
comment on column pgjobs.queue_controls.category is 'The category.';
comment on column pgjobs.queue_controls.mode is 'pause, or drain: what runs is to end, for example before a deploy.';
comment on column pgjobs.queue_controls.since is 'Since when.';
comment on column pgjobs.queue_controls.actor is 'By whom.';
comment on column pgjobs.queue_controls.reason is 'Why.';
