-- Tasks of a job may have a key: what they are grouped by. Jobs that share by key have
-- their policy in a table of its own, so that the others carry nothing of it around.
alter table pgjobs.jobs add column is_shared boolean not null default false;
comment on column pgjobs.jobs.is_shared is 'Whether its tasks share by key: it has a row in sharing.';

alter table pgjobs.tasks add column key text;
comment on column pgjobs.tasks.key is 'What it is grouped by.';

alter table pgjobs.ready add column key text, add column place bigint;
comment on column pgjobs.ready.key is 'Its key, where the job shares by key; a task without one has the empty key there.';
comment on column pgjobs.ready.place is 'Its place among the tasks of its key: by priority and due time, or by submission.';

alter table pgjobs.scheduled add column key text;
comment on column pgjobs.scheduled.key is 'As in ready.';

alter table pgjobs.leases add column key text;
comment on column pgjobs.leases.key is 'As in ready: the key whose slot it holds.';

create table pgjobs.sharing (
  job_id integer primary key references pgjobs.jobs on delete cascade,
  max_running_per_key integer,
  is_fair boolean not null default false,
  is_ordered boolean not null default false,
  on_failure text not null default 'wait',
  rate integer,
  rate_window interval,
  rate_per_key integer,
  rate_per_key_window interval,
  since timestamptz not null,
  constraint limits_per_key_are_possible check (max_running_per_key between 1 and 1000000),
  constraint failures_wait_or_skip check (on_failure in ('wait', 'skip')),
  constraint rates_have_a_window check (
    (rate is null) = (rate_window is null) and (rate_per_key is null) = (rate_per_key_window is null)
    and least(rate, rate_per_key) > 0 and greatest(rate, rate_per_key) <= 1000000
    and least(rate_window, rate_per_key_window) > interval '0'
    and greatest(rate_window, rate_per_key_window) <= interval '366 days'
  )
);

comment on table pgjobs.sharing is
  'How jobs share what they may run. Example: select * from pgjobs.sharing where is_fair';
comment on column pgjobs.sharing.job_id is 'The job.';
comment on column pgjobs.sharing.max_running_per_key is 'How many tasks of one key may be claimed or running at once.';
comment on column pgjobs.sharing.is_fair is 'Whether a key has as many tasks as its weight in each turn; else as many as may run.';
comment on column pgjobs.sharing.is_ordered is 'Whether tasks of one key run one at a time, in order of submission.';
comment on column pgjobs.sharing.on_failure is 'Of an ordered job: wait for a task that will be retried, or skip to the next.';
comment on column pgjobs.sharing.rate is 'How many tasks of the job may be claimed in any window.';
comment on column pgjobs.sharing.rate_window is 'How long that window is.';
comment on column pgjobs.sharing.rate_per_key is 'How many tasks of one key may be claimed in any window.';
comment on column pgjobs.sharing.rate_per_key_window is 'How long that window is.';
comment on column pgjobs.sharing.since is 'Since when the job shares.';

create table pgjobs.key_weights (
  job_id integer not null references pgjobs.jobs on delete cascade,
  key text not null,
  weight integer not null,
  primary key (job_id, key),
  constraint weights_are_possible check (weight between 1 and 1000)
);

comment on table pgjobs.key_weights is 'How many tasks a key has in a turn, where that is not one.';
comment on column pgjobs.key_weights.job_id is 'The job.';
comment on column pgjobs.key_weights.key is 'The key.';
comment on column pgjobs.key_weights.weight is 'Tasks in a turn.';

-- Keys that may run a task, in the order of their turns. A key may be in it twice, which
-- costs a look; a key that could run a task and is not in it would wait for ever, see
-- _offer_keys. Not unique for that: whoever enters a key waits for nobody.
create sequence pgjobs.key_turns_seq;
comment on sequence pgjobs.key_turns_seq is 'Places of turns: whoever is served goes to the back.';
create table pgjobs.key_turns (
  job_id integer not null,
  place bigint not null default nextval('pgjobs.key_turns_seq'),
  key text not null,
  left_over integer,
  primary key (job_id, place)
);

comment on table pgjobs.key_turns is 'Keys with a task that may be claimed, in order of their turns.';
comment on column pgjobs.key_turns.job_id is 'The job.';
comment on column pgjobs.key_turns.place is 'Its place: whoever was served goes to the back.';
comment on column pgjobs.key_turns.key is 'The key.';
comment on column pgjobs.key_turns.left_over is 'How many tasks are left of a turn that has begun.';

-- Keys that wait for their rate, and when they may claim again.
create table pgjobs.key_rests (
  job_id integer not null,
  resumes_at timestamptz not null,
  key text not null,
  primary key (job_id, resumes_at, key)
);

comment on table pgjobs.key_rests is 'Keys that have used up their rate, and until when.';
comment on column pgjobs.key_rests.job_id is 'The job.';
comment on column pgjobs.key_rests.resumes_at is 'When its window has room again.';
comment on column pgjobs.key_rests.key is 'The key; empty with one of the whole job.';

-- What was claimed, for rates: a row for each claim and key, never changed. Two of them,
-- at the edges of a window, say how many there are between.
create table pgjobs.rate_notes (
  job_id integer not null,
  key text not null default '',
  of_job boolean not null,
  at timestamptz not null,
  total bigint not null,
  primary key (job_id, of_job, key, at, total)
);

comment on table pgjobs.rate_notes is 'Claims of jobs with a rate, for as long as a window reaches back.';
comment on column pgjobs.rate_notes.job_id is 'The job.';
comment on column pgjobs.rate_notes.key is 'The key; empty for the whole job.';
comment on column pgjobs.rate_notes.of_job is 'Whether it counts the whole job.';
comment on column pgjobs.rate_notes.at is 'When it was claimed.';
comment on column pgjobs.rate_notes.total is 'How many were claimed until then, these included.';

-- Which task stands for something that is to be done once. Whoever submits locks the row,
-- so that of many at once one makes the task and the others find it.
create table pgjobs.unique_tasks (
  job_id integer not null,
  name text not null,
  task_id bigint not null,
  since timestamptz not null,
  expires_at timestamptz not null,
  primary key (job_id, name)
);

comment on table pgjobs.unique_tasks is 'Which task stands for a key or for arguments that are unique.';
comment on column pgjobs.unique_tasks.job_id is 'The job.';
comment on column pgjobs.unique_tasks.name is 'Where it was submitted from, and its key or the digest of its arguments.';
comment on column pgjobs.unique_tasks.task_id is 'The task.';
comment on column pgjobs.unique_tasks.since is 'When that task was first submitted.';
comment on column pgjobs.unique_tasks.expires_at is 'When upkeep looks whether it still stands for anything.';
