-- The tables of the queue. A task's status is where its row lives: ready or
-- scheduled (pending), leases (claimed, running), outcomes (completed, failed,
-- cancelled) or ignored. Bodies never change; moving is insert and delete.

create table pgjobs.settings (
  is_only boolean primary key default true,
  worker_timeout interval not null default '60 seconds',
  internal_timeout interval not null default '1 hour',
  max_lease interval not null default '1 hour',
  aging interval not null default '1 day',
  payload_limit integer not null default 1048576,
  retain_completed interval not null default '30 days',
  retain_failed interval not null default '60 days',
  retain_events interval not null default '7 days',
  constraint settings_are_one_row check (is_only),
  constraint durations_are_positive check (
    worker_timeout > interval '0' and internal_timeout > interval '0'
    and max_lease > interval '0' and aging >= interval '0'
  ),
  constraint retention_is_not_negative check (
    retain_completed >= interval '0' and retain_failed >= interval '0' and retain_events >= interval '0'
  ),
  constraint payload_limit_is_sane check (payload_limit between 1024 and 67108864)
);
insert into pgjobs.settings default values;

comment on table pgjobs.settings is
  'Limits and time-outs of this queue, one row. Example: update pgjobs.settings set max_lease = ''2 hours''';
comment on column pgjobs.settings.is_only is 'Always true: there is one row.';
comment on column pgjobs.settings.worker_timeout is 'A worker silent for longer is swept away.';
comment on column pgjobs.settings.internal_timeout is 'An @internal task claimed or running for longer is failed.';
comment on column pgjobs.settings.max_lease is 'No lease reaches further into the future than this.';
comment on column pgjobs.settings.aging is 'A task waiting this long counts as one priority step more urgent.';
comment on column pgjobs.settings.payload_limit is 'Largest payload or result, in bytes of JSON text.';
comment on column pgjobs.settings.retain_completed is 'How long completed tasks are kept; 0 keeps them for ever.';
comment on column pgjobs.settings.retain_failed is 'How long failed and cancelled tasks are kept; 0 keeps them for ever.';
comment on column pgjobs.settings.retain_events is 'How long events are kept; 0 keeps them for ever.';

create table pgjobs.secrets (
  is_only boolean primary key default true,
  task_key bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  constraint secrets_are_one_row check (is_only)
);
insert into pgjobs.secrets default values;

comment on table pgjobs.secrets is 'Keys nobody may read; only the functions that need them do.';
comment on column pgjobs.secrets.is_only is 'Always true: there is one row.';
comment on column pgjobs.secrets.task_key is 'Makes public task UUIDs unguessable. Changing it makes issued UUIDs invalid.';

create table pgjobs.jobs (
  id integer generated always as identity primary key,
  uuid uuid not null default gen_random_uuid(),
  room text not null,
  category text not null,
  name text not null,
  full_name text not null generated always as (room || ':' || category || ':' || name) stored,
  schema jsonb not null default '{}',
  max_attempts smallint not null default 1,
  backoff_base interval not null default '1 second',
  backoff_cap interval not null default '1 hour',
  jitter_share real not null default 0.25,
  jitter_cap interval,
  max_age interval,
  events text not null default 'failures',
  retain_completed interval,
  retain_failed interval,
  created_at timestamptz not null,
  paused_at timestamptz,
  archived_at timestamptz,
  deleted_at timestamptz,
  constraint job_uuids_are_unique unique (uuid),
  constraint jobs_have_one_address unique (room, category, name),
  constraint rooms_are_well_formed check (
    room in ('@global', '@internal') or (room <> '' and room !~ '[@:]' and length(room) <= 200)
  ),
  constraint categories_are_well_formed check (category <> '' and category !~ ':' and length(category) <= 200),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200),
  constraint attempts_are_possible check (max_attempts between 1 and 10000),
  constraint backoff_grows check (backoff_base >= interval '0' and backoff_cap >= backoff_base),
  constraint jitter_is_a_share check (jitter_share between 0 and 1 and jitter_cap >= interval '0'),
  constraint ages_are_not_negative check (
    max_age > interval '0' and retain_completed >= interval '0' and retain_failed >= interval '0'
  ),
  constraint events_are_known check (events in ('failures', 'full'))
);
-- Not unique: (room, category, name) is, and a second unique index could refuse a
-- concurrent registration that the first one's `on conflict` would settle.
create index jobs_by_address on pgjobs.jobs (full_name);
create index jobs_with_full_events on pgjobs.jobs (id) where events = 'full';

comment on table pgjobs.jobs is 'Registered kinds of work; also where their tasks wait, one lane per priority.';
comment on column pgjobs.jobs.id is 'Internal number.';
comment on column pgjobs.jobs.uuid is 'Public id.';
comment on column pgjobs.jobs.room is 'Scope: @global, @internal or a room''s own name.';
comment on column pgjobs.jobs.category is 'Second part of the address.';
comment on column pgjobs.jobs.name is 'Third part of the address; may contain colons.';
comment on column pgjobs.jobs.full_name is 'The address, room:category:name.';
comment on column pgjobs.jobs.schema is 'JSON Schema of the payload.';
comment on column pgjobs.jobs.max_attempts is 'How often a task may be leased before it fails for good, unless the task says otherwise.';
comment on column pgjobs.jobs.backoff_base is 'Delay after the first failed attempt; doubles with each further one.';
comment on column pgjobs.jobs.backoff_cap is 'Longest delay between attempts, before jitter.';
comment on column pgjobs.jobs.jitter_share is 'Up to this share of the delay is added, always the same for one attempt of one task.';
comment on column pgjobs.jobs.jitter_cap is 'Jitter never exceeds this.';
comment on column pgjobs.jobs.max_age is 'A task older than this is not retried.';
comment on column pgjobs.jobs.events is 'failures: only failures and operator actions are recorded; full: every change of status.';
comment on column pgjobs.jobs.retain_completed is 'Overrides settings.retain_completed.';
comment on column pgjobs.jobs.retain_failed is 'Overrides settings.retain_failed.';
comment on column pgjobs.jobs.created_at is 'When it was first registered.';
comment on column pgjobs.jobs.paused_at is 'Set while claims pass it by.';
comment on column pgjobs.jobs.archived_at is 'Set while it is put away: hidden, refuses tasks, yields none; history is kept.';
comment on column pgjobs.jobs.deleted_at is 'Soft delete: nobody serves it and nothing waits; registering it again brings it back.';

create table pgjobs.error_policies (
  job_id integer not null references pgjobs.jobs on delete cascade,
  kind text not null,
  is_retryable boolean not null default true,
  backoff_base interval not null,
  backoff_cap interval not null,
  jitter_share real not null default 0.25,
  jitter_cap interval,
  primary key (job_id, kind),
  constraint kinds_are_named check (kind <> '' and length(kind) <= 200),
  constraint backoff_grows check (backoff_base >= interval '0' and backoff_cap >= backoff_base),
  constraint jitter_is_a_share check (jitter_share between 0 and 1 and jitter_cap >= interval '0')
);

comment on table pgjobs.error_policies is 'What a job does after errors of one kind, where that differs from its own policy.';
comment on column pgjobs.error_policies.job_id is 'The job.';
comment on column pgjobs.error_policies.kind is 'Error kind as given to fail.';
comment on column pgjobs.error_policies.is_retryable is 'False: such an error fails the task for good.';
comment on column pgjobs.error_policies.backoff_base is 'As in jobs.';
comment on column pgjobs.error_policies.backoff_cap is 'As in jobs.';
comment on column pgjobs.error_policies.jitter_share is 'As in jobs.';
comment on column pgjobs.error_policies.jitter_cap is 'As in jobs.';

-- No unique constraint: the first submit into a lane must not wait for another
-- transaction's first submit. Readers take distinct lanes; sweeps fold doubles.
create table pgjobs.lanes (
  job_id integer not null,
  priority smallint not null
);
create index lanes_of_a_job on pgjobs.lanes (job_id, priority);

comment on table pgjobs.lanes is 'Which priorities a job has ever used, so that claims probe no others.';
comment on column pgjobs.lanes.job_id is 'The job.';
comment on column pgjobs.lanes.priority is 'A priority in use.';

create table pgjobs.tasks (
  id bigint generated always as identity primary key,
  job_id integer not null,
  room text not null,
  payload jsonb not null,
  priority smallint not null,
  max_attempts smallint not null,
  created_at timestamptz not null,
  submitter text,
  owner text,
  project text,
  tags text[],
  idempotency_key text,
  constraint priorities_are_known check (priority between 1 and 10),
  constraint attempts_are_possible check (max_attempts between 1 and 10000)
);
create index tasks_of_a_room on pgjobs.tasks (room, id);

comment on table pgjobs.tasks is 'Requests to run a job once. Written once, never changed.';
comment on column pgjobs.tasks.id is 'Internal number, in order of submission.';
comment on column pgjobs.tasks.job_id is 'What to run.';
comment on column pgjobs.tasks.room is 'Where it was submitted from.';
comment on column pgjobs.tasks.payload is 'What to run it with.';
comment on column pgjobs.tasks.priority is '1 (most urgent) to 10.';
comment on column pgjobs.tasks.max_attempts is 'How often it may be leased before it fails for good.';
comment on column pgjobs.tasks.created_at is 'When it was submitted.';
comment on column pgjobs.tasks.submitter is 'Who submitted it.';
comment on column pgjobs.tasks.owner is 'Whose work it is.';
comment on column pgjobs.tasks.project is 'What it belongs to.';
comment on column pgjobs.tasks.tags is 'Free words to find it by.';
comment on column pgjobs.tasks.idempotency_key is 'The key it was submitted under.';

create table pgjobs.idempotency_keys (
  job_id integer not null,
  key text not null,
  task_id bigint not null,
  primary key (job_id, key),
  constraint keys_are_short check (key <> '' and length(key) <= 200)
);

comment on table pgjobs.idempotency_keys is 'Which task a key stands for; one per job and key.';
comment on column pgjobs.idempotency_keys.job_id is 'The job.';
comment on column pgjobs.idempotency_keys.key is 'The submitter''s key.';
comment on column pgjobs.idempotency_keys.task_id is 'The first task submitted with it.';

-- The primary key is the exact order of claims. A first entry is due when its
-- task was created, so its key is known without an index on task_id; whoever
-- comes back is found by the partial index.
create table pgjobs.ready (
  job_id integer not null,
  priority smallint not null,
  attempt smallint not null default 0,
  due_at timestamptz not null,
  task_id bigint not null,
  is_again boolean not null default false,
  primary key (job_id, priority, due_at, task_id)
);
create index ready_again on pgjobs.ready (task_id) where is_again;

comment on table pgjobs.ready is 'Tasks that are due, in the exact order they are claimed.';
comment on column pgjobs.ready.job_id is 'The job.';
comment on column pgjobs.ready.priority is 'The lane.';
comment on column pgjobs.ready.attempt is 'Attempts used so far.';
comment on column pgjobs.ready.due_at is 'Since when it is due: its place in the lane.';
comment on column pgjobs.ready.task_id is 'The task.';
comment on column pgjobs.ready.is_again is 'True unless it entered when it was submitted.';

create table pgjobs.scheduled (
  task_id bigint primary key,
  run_at timestamptz not null,
  job_id integer not null,
  priority smallint not null,
  attempt smallint not null default 0,
  error text,
  error_kind text
);
create index scheduled_in_time on pgjobs.scheduled (run_at, task_id);
create index scheduled_of_a_job on pgjobs.scheduled (job_id);

comment on table pgjobs.scheduled is 'Tasks that are due later: submitted with a delay, or backing off after an error.';
comment on column pgjobs.scheduled.task_id is 'The task.';
comment on column pgjobs.scheduled.run_at is 'When it becomes due.';
comment on column pgjobs.scheduled.job_id is 'The job.';
comment on column pgjobs.scheduled.priority is 'The lane it will enter.';
comment on column pgjobs.scheduled.attempt is 'Attempts used so far.';
comment on column pgjobs.scheduled.error is 'What the last attempt failed with.';
comment on column pgjobs.scheduled.error_kind is 'The kind of that error.';

create table pgjobs.leases (
  task_id bigint primary key,
  job_id integer not null,
  token uuid not null,
  worker_id uuid,
  holder text,
  attempt smallint not null,
  claimed_at timestamptz not null,
  until timestamptz,
  started_at timestamptz,
  progress jsonb,
  cancel_requested_at timestamptz,
  cancel_reason text,
  constraint leases_can_end check (until is not null or worker_id is not null),
  constraint leases_have_a_holder check (worker_id is not null or holder is not null),
  constraint attempts_count_from_one check (attempt >= 1)
) with (fillfactor = 90);

comment on table pgjobs.leases is 'Who works on which task, until when, under which token.';
comment on column pgjobs.leases.task_id is 'The task.';
comment on column pgjobs.leases.job_id is 'The job.';
comment on column pgjobs.leases.token is 'The fence: every acknowledgement must name it.';
comment on column pgjobs.leases.worker_id is 'The registered worker that holds it.';
comment on column pgjobs.leases.holder is 'Name of a holder that is not a registered worker.';
comment on column pgjobs.leases.attempt is 'The how-many-eth lease of the task in its present life.';
comment on column pgjobs.leases.claimed_at is 'When it was claimed.';
comment on column pgjobs.leases.until is 'When it lapses; empty: it lives by its worker''s heartbeats alone.';
comment on column pgjobs.leases.started_at is 'When work began; empty: claimed only.';
comment on column pgjobs.leases.progress is 'What the worker last reported.';
comment on column pgjobs.leases.cancel_requested_at is 'Since when the worker is asked to stop.';
comment on column pgjobs.leases.cancel_reason is 'Why.';

create table pgjobs.outcomes (
  task_id bigint primary key,
  job_id integer not null,
  status text not null,
  attempt smallint not null,
  token uuid,
  worker_id uuid,
  holder text,
  claimed_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz not null,
  result jsonb,
  error text,
  error_kind text,
  reason text,
  actor text,
  constraint statuses_are_final check (status in ('completed', 'failed', 'cancelled')),
  constraint failures_name_their_error check ((status = 'failed') = (error is not null)),
  constraint only_completed_tasks_have_results check (status = 'completed' or result is null),
  constraint endings_by_workers_carry_the_token check (status = 'cancelled' or token is not null)
);
create index outcomes_to_look_at on pgjobs.outcomes (status, task_id) where status <> 'completed';
create index outcomes_in_time on pgjobs.outcomes using brin (ended_at) with (autosummarize = on);

comment on table pgjobs.outcomes is 'How tasks ended. Written once, never changed.';
comment on column pgjobs.outcomes.task_id is 'The task.';
comment on column pgjobs.outcomes.job_id is 'The job.';
comment on column pgjobs.outcomes.status is 'completed, failed or cancelled.';
comment on column pgjobs.outcomes.attempt is 'Attempts used.';
comment on column pgjobs.outcomes.token is 'The lease that ended it, so that a repeated acknowledgement can be answered.';
comment on column pgjobs.outcomes.worker_id is 'The worker that ended it.';
comment on column pgjobs.outcomes.holder is 'The holder that ended it, if not a registered worker.';
comment on column pgjobs.outcomes.claimed_at is 'When its last lease began.';
comment on column pgjobs.outcomes.started_at is 'When its last attempt began to run.';
comment on column pgjobs.outcomes.ended_at is 'When it ended.';
comment on column pgjobs.outcomes.result is 'What it gave.';
comment on column pgjobs.outcomes.error is 'What it failed with.';
comment on column pgjobs.outcomes.error_kind is 'The kind of that error.';
comment on column pgjobs.outcomes.reason is 'Why it was cancelled.';
comment on column pgjobs.outcomes.actor is 'Who cancelled it.';

create table pgjobs.ignored (
  task_id bigint primary key,
  job_id integer not null,
  attempt smallint not null,
  ignored_at timestamptz not null,
  actor text,
  reason text
);

comment on table pgjobs.ignored is 'Tasks an operator put aside.';
comment on column pgjobs.ignored.task_id is 'The task.';
comment on column pgjobs.ignored.job_id is 'The job.';
comment on column pgjobs.ignored.attempt is 'Attempts used before.';
comment on column pgjobs.ignored.ignored_at is 'Since when.';
comment on column pgjobs.ignored.actor is 'By whom.';
comment on column pgjobs.ignored.reason is 'Why.';

create table pgjobs.attempts (
  id bigint generated always as identity primary key,
  task_id bigint not null,
  attempt smallint not null,
  status text not null,
  token uuid,
  worker_id uuid,
  holder text,
  claimed_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz not null,
  error text,
  error_kind text,
  reason text,
  constraint statuses_are_known check (status in ('failed', 'cancelled'))
);
create index attempts_of_a_task on pgjobs.attempts (task_id, id);

comment on table pgjobs.attempts is 'Attempts that did not settle their task: failed and retried, or undone by an operator.';
comment on column pgjobs.attempts.id is 'In order of ending.';
comment on column pgjobs.attempts.task_id is 'The task.';
comment on column pgjobs.attempts.attempt is 'The how-many-eth lease.';
comment on column pgjobs.attempts.status is 'failed, or cancelled and later retried by an operator.';
comment on column pgjobs.attempts.token is 'The lease''s token.';
comment on column pgjobs.attempts.worker_id is 'The worker.';
comment on column pgjobs.attempts.holder is 'The holder, if not a registered worker.';
comment on column pgjobs.attempts.claimed_at is 'When the lease began.';
comment on column pgjobs.attempts.started_at is 'When work began.';
comment on column pgjobs.attempts.ended_at is 'When it ended.';
comment on column pgjobs.attempts.error is 'What it failed with.';
comment on column pgjobs.attempts.error_kind is 'The kind of that error.';
comment on column pgjobs.attempts.reason is 'Why it was cancelled.';

create table pgjobs.workers (
  id uuid primary key default gen_random_uuid(),
  name text,
  owner text,
  registered_at timestamptz not null,
  last_heartbeat_at timestamptz not null,
  constraint names_are_short check (length(name) <= 200)
) with (fillfactor = 50);
create index workers_by_heartbeat on pgjobs.workers (last_heartbeat_at);

comment on table pgjobs.workers is 'Registered processes that claim tasks and send heartbeats. Ids are never reused.';
comment on column pgjobs.workers.id is 'Public id.';
comment on column pgjobs.workers.name is 'What people call it.';
comment on column pgjobs.workers.owner is 'The user it belongs to.';
comment on column pgjobs.workers.registered_at is 'When it came.';
comment on column pgjobs.workers.last_heartbeat_at is 'When it was last heard of.';

create table pgjobs.worker_jobs (
  worker_id uuid not null references pgjobs.workers on delete cascade,
  job_id integer not null references pgjobs.jobs on delete cascade,
  primary key (worker_id, job_id)
);
create index workers_of_a_job on pgjobs.worker_jobs (job_id);

comment on table pgjobs.worker_jobs is 'Which worker serves which job.';
comment on column pgjobs.worker_jobs.worker_id is 'The worker.';
comment on column pgjobs.worker_jobs.job_id is 'The job.';

-- Ordered by the writing transaction first: identity values commit out of
-- order, but whatever is older than every running transaction is complete.
create table pgjobs.events (
  xid xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  at timestamptz not null,
  kind text not null,
  task_id bigint,
  job_id integer,
  room text,
  status text,
  worker_id uuid,
  actor text,
  message text,
  fields jsonb,
  primary key (xid, id)
);
create index events_of_a_task on pgjobs.events (task_id, id) where task_id is not null;
create index events_in_time on pgjobs.events using brin (at) with (autosummarize = on);

comment on table pgjobs.events is 'Append-only facts: what changed, when, by whom.';
comment on column pgjobs.events.xid is 'The transaction that wrote it.';
comment on column pgjobs.events.id is 'Order within the transaction.';
comment on column pgjobs.events.at is 'When.';
comment on column pgjobs.events.kind is 'The verb: submitted, claimed, started, completed, retrying, failed, cancelled, …';
comment on column pgjobs.events.task_id is 'The task it is about.';
comment on column pgjobs.events.job_id is 'The job it is about.';
comment on column pgjobs.events.room is 'The room that should hear of it.';
comment on column pgjobs.events.status is 'The task''s status after it.';
comment on column pgjobs.events.worker_id is 'The worker involved.';
comment on column pgjobs.events.actor is 'Who did it, if a person did.';
comment on column pgjobs.events.message is 'Error or reason, one line.';
comment on column pgjobs.events.fields is 'Further details.';

-- Marks of idle workers and of people waiting for a result. Lost in a crash,
-- which costs a wake-up and nothing else.
create unlogged table pgjobs.waiting (
  id bigint generated always as identity primary key,
  job_ids integer[] not null,
  since timestamptz not null
);

comment on table pgjobs.waiting is 'Idle workers to be woken by NOTIFY; whoever wakes one takes its mark.';
comment on column pgjobs.waiting.id is 'What the notification carries.';
comment on column pgjobs.waiting.job_ids is 'Jobs whose tasks it waits for.';
comment on column pgjobs.waiting.since is 'When it began to wait.';

create unlogged table pgjobs.watched (
  task_id bigint primary key,
  since timestamptz not null
);

comment on table pgjobs.watched is 'Tasks somebody waits for; their outcome is notified.';
comment on column pgjobs.watched.task_id is 'The task.';
comment on column pgjobs.watched.since is 'When somebody began to wait.';

-- A sequence keeps no dead versions, so reading it costs the same however long
-- somebody holds a transaction open.
create sequence pgjobs.watched_until minvalue 0 start 0;
comment on sequence pgjobs.watched_until is 'Unix time until which outcomes look for watchers.';
