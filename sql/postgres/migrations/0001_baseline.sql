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
  cleanup_after interval not null default '7 days',
  show_secrets boolean not null default false,
  max_outages integer not null default 100,
  constraint settings_are_one_row check (is_only),
  constraint durations_are_positive check (
    worker_timeout > interval '0' and internal_timeout > interval '0'
    and max_lease > interval '0' and aging >= interval '0'
    and greatest(worker_timeout, internal_timeout, max_lease) <= interval '1000 years'
    and aging <= interval '100 years'
  ),
  constraint retention_is_not_negative check (
    retain_completed >= interval '0' and retain_failed >= interval '0' and retain_events >= interval '0'
    and greatest(retain_completed, retain_failed, retain_events) <= interval '1000 years'
  ),
  constraint cleanup_is_not_in_the_future check (cleanup_after between interval '0' and interval '1000 years'),
  constraint payload_limit_is_sane check (payload_limit between 1024 and 67108864),
  constraint outages_are_counted check (max_outages between 0 and 10000)
);
insert into pgjobs.settings default values;

comment on table pgjobs.settings is
  'Limits and time-outs of this queue, one row. Example: update pgjobs.settings set max_lease = ''2 hours''';
comment on column pgjobs.settings.is_only is 'Always true: there is one row.';
comment on column pgjobs.settings.show_secrets is
  'Whether payloads are shown with what looks like a secret. Whoever claims a task always gets its payload as it is.';
comment on column pgjobs.settings.worker_timeout is 'A worker silent for longer is swept away.';
comment on column pgjobs.settings.internal_timeout is 'An @internal task claimed or running for longer is failed.';
comment on column pgjobs.settings.max_lease is 'No lease reaches further into the future than this.';
comment on column pgjobs.settings.aging is 'A task waiting this long counts as one priority step more urgent.';
comment on column pgjobs.settings.payload_limit is 'Largest payload or result, in bytes of JSON text.';
comment on column pgjobs.settings.retain_completed is 'How long completed tasks are kept; 0 keeps them for ever.';
comment on column pgjobs.settings.retain_failed is 'How long failed and cancelled tasks are kept; 0 keeps them for ever.';
comment on column pgjobs.settings.retain_events is 'How long events are kept; 0 keeps them for ever.';
comment on column pgjobs.settings.cleanup_after is
  'A run that ended without completing is cleaned up when it ended longer ago than this; 0 cleans up nothing.';
comment on column pgjobs.settings.max_outages is
  'How often in a row a task goes back because of an outage without an attempt used; then it counts as any error.';

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
  pause_reason text,
  archived_at timestamptz,
  deleted_at timestamptz,
  keep boolean not null default false,
  max_running integer,
  constraint job_uuids_are_unique unique (uuid),
  constraint jobs_have_one_address unique (room, category, name),
  constraint rooms_are_well_formed check (
    room in ('@global', '@internal') or (room <> '' and room !~ '[@:]' and length(room) <= 200)
  ),
  constraint categories_are_well_formed check (category <> '' and category !~ ':' and length(category) <= 200),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200),
  constraint attempts_are_possible check (max_attempts between 1 and 10000),
  constraint backoff_grows check (
    backoff_base >= interval '0' and backoff_cap >= backoff_base and backoff_cap <= interval '1000 years'
  ),
  constraint jitter_is_a_share check (jitter_share between 0 and 1 and jitter_cap >= interval '0'),
  constraint ages_are_not_negative check (
    max_age > interval '0' and retain_completed >= interval '0' and retain_failed >= interval '0'
    and greatest(max_age, retain_completed, retain_failed) <= interval '1000 years'
  ),
  constraint events_are_known check (events in ('failures', 'full')),
  constraint limits_are_possible check (max_running between 1 and 1000000)
);
-- Not unique: (room, category, name) is, and a second unique index could refuse a
-- concurrent registration that the first one's `on conflict` would settle.
create index jobs_by_address on pgjobs.jobs (full_name);
create index jobs_with_full_events on pgjobs.jobs (id) where events = 'full';
create index jobs_with_a_limit on pgjobs.jobs (id) where max_running is not null;

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
comment on column pgjobs.jobs.pause_reason is 'Why it is paused, one line, redacted.';
comment on column pgjobs.jobs.archived_at is 'Set while it is put away: hidden, refuses tasks, yields none; history is kept.';
comment on column pgjobs.jobs.deleted_at is 'Soft delete: nobody serves it and nothing waits; registering it again brings it back.';
comment on column pgjobs.jobs.keep is 'Whether it stays when nobody serves it; else it is retired with its last worker.';
comment on column pgjobs.jobs.max_running is 'How many of its tasks may be claimed or running at once; empty: any number.';

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
  constraint backoff_grows check (
    backoff_base >= interval '0' and backoff_cap >= backoff_base and backoff_cap <= interval '1000 years'
  ),
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
  trace_context text,
  constraint priorities_are_known check (priority between 1 and 10),
  constraint attempts_are_possible check (max_attempts between 1 and 10000)
);
-- The job between room and id: a room's list merges its jobs, and a job's list
-- needs no second index on a table that is written all the time.
create index tasks_of_a_room_by_job on pgjobs.tasks (room, job_id, id);

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
comment on column pgjobs.tasks.trace_context is
  'W3C trace context of its submit: traceparent, then tracestate, if any, after a space.';

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
  is_released boolean not null default false,
  updated_at timestamptz,
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
comment on column pgjobs.ready.is_released is 'True when a lease of it was given back, and it has its place again.';
comment on column pgjobs.ready.updated_at is 'When it was put back by a release or by an operator; empty: neither.';

create table pgjobs.scheduled (
  task_id bigint primary key,
  run_at timestamptz not null,
  job_id integer not null,
  priority smallint not null,
  attempt smallint not null default 0,
  error text,
  error_kind text,
  updated_at timestamptz
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
comment on column pgjobs.scheduled.updated_at is 'When it was put back by a release; empty: it was not.';

create table pgjobs.leases (
  task_id bigint primary key,
  job_id integer not null,
  token uuid not null,
  worker_id uuid,
  holder text,
  attempt smallint not null,
  due_at timestamptz not null,
  claimed_at timestamptz not null,
  until timestamptz,
  started_at timestamptz,
  progress jsonb,
  cancel_requested_at timestamptz,
  cancel_reason text,
  is_limited boolean not null default false,
  updated_at timestamptz,
  -- One condition instead of several: conditions are read and prepared anew by every
  -- statement, which costs a claim more than judging them.
  constraint leases_are_held check (
    attempt > 0 and (worker_id is not null or (holder is not null and until is not null))
  )
) with (fillfactor = 90);
-- Only leases of limited jobs are in the index, so the others do not pay for it.
create index leases_of_limited_jobs on pgjobs.leases (job_id) where is_limited;

comment on table pgjobs.leases is 'Who works on which task, until when, under which token.';
comment on column pgjobs.leases.task_id is 'The task.';
comment on column pgjobs.leases.job_id is 'The job.';
comment on column pgjobs.leases.token is 'The fence: every acknowledgement must name it.';
comment on column pgjobs.leases.worker_id is 'The registered worker that holds it.';
comment on column pgjobs.leases.holder is 'Name of a holder that is not a registered worker.';
comment on column pgjobs.leases.attempt is 'The how-many-eth lease of the task in its present life.';
comment on column pgjobs.leases.due_at is 'Since when the task was due; its place in line, should it be given back.';
comment on column pgjobs.leases.claimed_at is 'When it was claimed.';
comment on column pgjobs.leases.until is 'When it lapses; empty: it lives by its worker''s heartbeats alone.';
comment on column pgjobs.leases.started_at is 'When work began; empty: claimed only.';
comment on column pgjobs.leases.progress is 'What the worker last reported.';
comment on column pgjobs.leases.cancel_requested_at is 'Since when the worker is asked to stop.';
comment on column pgjobs.leases.cancel_reason is 'Why.';
comment on column pgjobs.leases.is_limited is 'Whether it counts towards the limit of its job.';
comment on column pgjobs.leases.updated_at is 'When it was last renewed, reported on or asked to stop; empty: never.';

create table pgjobs.outcomes (
  task_id bigint primary key,
  job_id integer not null,
  status text not null,
  attempt smallint not null,
  token uuid,
  worker_id uuid,
  holder text,
  due_at timestamptz,
  claimed_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz not null,
  result jsonb,
  error text,
  error_kind text,
  reason text,
  actor text,
  -- One condition, as in leases.
  constraint outcomes_are_whole check (
    case status
      when 'completed' then error is null and token is not null
      when 'failed' then error is not null and token is not null and result is null
      when 'cancelled' then error is null and result is null
      else false
    end
  )
) partition by range (task_id);
create index outcomes_to_look_at on pgjobs.outcomes (status, task_id) where status <> 'completed';
create index outcomes_in_time on pgjobs.outcomes using brin (ended_at) with (autosummarize = on);
-- Reconciling looks at the runs of few jobs, and only at those that did not complete.
create index outcomes_unfinished on pgjobs.outcomes (job_id, ended_at) where status <> 'completed';

comment on table pgjobs.outcomes is
  'How tasks ended. Written once, never changed. In partitions by the number of the task.';
comment on column pgjobs.outcomes.task_id is 'The task.';
comment on column pgjobs.outcomes.job_id is 'The job.';
comment on column pgjobs.outcomes.status is 'completed, failed or cancelled.';
comment on column pgjobs.outcomes.attempt is 'Attempts used.';
comment on column pgjobs.outcomes.token is 'The lease that ended it, so that a repeated acknowledgement can be answered.';
comment on column pgjobs.outcomes.worker_id is 'The worker that ended it.';
comment on column pgjobs.outcomes.holder is 'The holder that ended it, if not a registered worker.';
comment on column pgjobs.outcomes.due_at is 'Since when it was due when that lease began.';
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
  due_at timestamptz,
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
comment on column pgjobs.attempts.due_at is 'Since when the task was due for this attempt.';
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
  connection_id uuid,
  constraint names_are_short check (length(name) <= 200)
) with (fillfactor = 50);
create index workers_by_heartbeat on pgjobs.workers (last_heartbeat_at);

comment on table pgjobs.workers is 'Registered processes that claim tasks and send heartbeats. Ids are never reused.';
comment on column pgjobs.workers.id is 'Public id.';
comment on column pgjobs.workers.name is 'What people call it.';
comment on column pgjobs.workers.owner is 'The user it belongs to.';
comment on column pgjobs.workers.registered_at is 'When it came.';
comment on column pgjobs.workers.last_heartbeat_at is 'When it was last heard of.';
comment on column pgjobs.workers.connection_id is
  'The live connection (Socket.IO) it joined by last; whoever loses another one leaves the worker alone.';

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
) partition by range (id);
create index events_of_a_task on pgjobs.events (task_id, id) where task_id is not null;
create index events_in_time on pgjobs.events using brin (at) with (autosummarize = on);

comment on table pgjobs.events is 'Append-only facts: what changed, when, by whom. In partitions by number.';
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
create unlogged table pgjobs.waiting_marks (
  id bigint generated always as identity primary key,
  job_ids integer[] not null,
  since timestamptz not null
);

comment on table pgjobs.waiting_marks is 'Idle workers to be woken by NOTIFY; whoever wakes one takes its mark.';
comment on column pgjobs.waiting_marks.id is 'What the notification carries.';
comment on column pgjobs.waiting_marks.job_ids is 'Jobs whose tasks it waits for.';
comment on column pgjobs.waiting_marks.since is 'When it began to wait.';

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

-- A sequence as well: every claim reads it, and nobody waits for whoever sets it.
create sequence pgjobs.low_entries minvalue 0 start 0;
comment on sequence pgjobs.low_entries is
  'When a task last entered a lane below what sessions may remember as its floor, in milliseconds since 1970.';

-- New events are announced by NOTIFY when somebody has asked for it.
create sequence pgjobs.events_wanted_until minvalue 0 start 0;
comment on sequence pgjobs.events_wanted_until is 'Unix time until which the next event is announced by NOTIFY; 0 once it was.';

-- Retention gives the disk back: outcomes and events live in partitions, by number.
-- Sweeps make the next one ahead of time and drop those that are empty; what has no
-- partition goes to the default one, so that a missing one stops nobody.
do $$
declare
  v_part record;
begin
  for v_part in
    select
      t.name as parent, t.name || p.suffix as name, p.bounds,
      format('Part of %s: %s.', t.name, p.holds) as remark
    from (values (1, 'outcomes'), (2, 'events')) as t (place, name)
    cross join (
      values
      (1, '_from_0', 'for values from (0) to (250000)', 'numbers up to 249999'),
      (2, '_from_250000', 'for values from (250000) to (500000)', 'numbers from 250000 up to 499999'),
      (3, '_default', 'default', 'what no other part is for')
    ) as p (place, suffix, bounds, holds)
    order by t.place, p.place
  loop
    execute format(
      'create table pgjobs.%I (like pgjobs.%I including defaults including constraints including indexes '
      'including comments including storage)', v_part.name, v_part.parent
    );
    execute format('alter table pgjobs.%I attach partition pgjobs.%I %s', v_part.parent, v_part.name, v_part.bounds);
    execute format('comment on table pgjobs.%I is %L', v_part.name, v_part.remark);
  end loop;
end
$$;

-- Providers answer questions on demand; reads keep their answers for a while.
-- API tokens let programs in.
create table pgjobs.providers (
  id uuid primary key default gen_random_uuid(),
  room text not null,
  category text not null,
  name text not null,
  full_name text not null generated always as (room || ':' || category || ':' || name) stored,
  schema jsonb not null default '{}',
  content_type text not null default 'application/json',
  owner text,
  worker_id uuid not null references pgjobs.workers on delete cascade,
  created_at timestamptz not null,
  constraint providers_have_one_address unique (room, category, name),
  constraint providers_are_not_internal check (room <> '@internal'),
  constraint rooms_are_well_formed check (
    room in ('@global', '@internal') or (room <> '' and room !~ '[@:]' and length(room) <= 200)
  ),
  constraint categories_are_well_formed check (category <> '' and category !~ ':' and length(category) <= 200),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200)
);
create index providers_of_a_worker on pgjobs.providers (worker_id);
create index providers_by_address on pgjobs.providers (full_name);

comment on table pgjobs.providers is 'Registered answerers of reads; they leave with their worker.';
comment on column pgjobs.providers.id is 'Public id.';
comment on column pgjobs.providers.room is 'Scope: @global or a room''s own name.';
comment on column pgjobs.providers.category is 'Second part of the address.';
comment on column pgjobs.providers.name is 'Third part of the address; may contain colons.';
comment on column pgjobs.providers.full_name is 'The address, room:category:name.';
comment on column pgjobs.providers.schema is 'JSON Schema of the questions.';
comment on column pgjobs.providers.content_type is 'Media type of the answers.';
comment on column pgjobs.providers.owner is 'The user it belongs to.';
comment on column pgjobs.providers.worker_id is 'The worker that answers.';
comment on column pgjobs.providers.created_at is 'When it was first registered.';

-- Lost in a crash, which costs a question asked again and nothing else.
create unlogged table pgjobs.reads (
  key text primary key,
  data bytea not null,
  expires_at timestamptz not null,
  constraint read_keys_are_short check (length(key) <= 1000)
);
create index reads_in_time on pgjobs.reads (expires_at);

comment on table pgjobs.reads is 'Answers of providers, kept until they expire.';
comment on column pgjobs.reads.key is 'Provider and question.';
comment on column pgjobs.reads.data is 'The answer, byte for byte.';
comment on column pgjobs.reads.expires_at is 'Until when it counts.';

create unlogged table pgjobs.reads_in_flight (
  key text primary key,
  expires_at timestamptz not null,
  constraint read_keys_are_short check (length(key) <= 1000)
);
create index reads_in_flight_in_time on pgjobs.reads_in_flight (expires_at);

comment on table pgjobs.reads_in_flight is 'Questions somebody has passed on to their provider already.';
comment on column pgjobs.reads_in_flight.key is 'Provider and question.';
comment on column pgjobs.reads_in_flight.expires_at is 'When it may be asked again, answered or not.';

create table pgjobs.api_tokens (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null,
  user_id text not null,
  name text,
  is_superuser boolean not null default false,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  rooms text[] not null default '{}',
  constraint token_hashes_are_unique unique (token_hash),
  constraint tokens_name_their_user check (user_id <> '' and length(user_id) <= 200),
  constraint names_are_short check (length(name) <= 200)
);

comment on table pgjobs.api_tokens is 'Tokens for programs; only their hashes are kept.';
comment on column pgjobs.api_tokens.id is 'What revokes it.';
comment on column pgjobs.api_tokens.token_hash is 'SHA-256 of the token.';
comment on column pgjobs.api_tokens.user_id is 'Whom it stands for.';
comment on column pgjobs.api_tokens.name is 'What people call it.';
comment on column pgjobs.api_tokens.is_superuser is 'Whether it may do what superusers may.';
comment on column pgjobs.api_tokens.created_at is 'When it was created.';
comment on column pgjobs.api_tokens.expires_at is 'When it ceases to count; empty: never.';
comment on column pgjobs.api_tokens.revoked_at is 'When it was taken back.';
comment on column pgjobs.api_tokens.rooms is 'Where rooms are closed: those its bearer is a member of.';

-- History in numbers. Endings are noted as they happen, one row per statement,
-- and counted into minutes by sweeps: nobody updates a shared counter while
-- acknowledging, and nobody counts history to draw a chart.
create table pgjobs.uncounted (
  job_id integer not null,
  measure text not null,
  at timestamptz not null,
  task_ids bigint[] not null,
  claimed_at timestamptz[],
  due_at timestamptz[]
  -- Rows live until the next sweep: compressing those of a hundred tasks cost acknowledging them 6 %.
) with (toast_tuple_target = 8160);

comment on table pgjobs.uncounted is 'Endings and retries that no rollup counts yet.';
comment on column pgjobs.uncounted.job_id is 'The job.';
comment on column pgjobs.uncounted.measure is 'completed, failed, cancelled or retried.';
comment on column pgjobs.uncounted.at is 'When.';
comment on column pgjobs.uncounted.task_ids is 'The tasks of one statement.';
comment on column pgjobs.uncounted.claimed_at is 'When the lease of each began, by position; empty for one cancelled in line.';
comment on column pgjobs.uncounted.due_at is 'Since when each was due when that lease began, by position.';

-- A minute of a job is one row, and so is a minute of all jobs together: with a row for each
-- measure and bucket an hour of a hundred jobs would be fifty thousand.
create table pgjobs.rollups (
  job_id integer not null,
  minute timestamptz not null,
  completed bigint not null,
  failed bigint not null,
  cancelled bigint not null,
  retried bigint not null,
  waits bigint[] not null,
  wait_seconds double precision not null,
  runs bigint[] not null,
  run_seconds double precision not null,
  ages bigint[] not null default array_fill(0::bigint, array[14]),
  age_seconds double precision not null default 0,
  primary key (job_id, minute),
  constraint all_buckets_are_there check (cardinality(waits) = 14 and cardinality(runs) = 14 and cardinality(ages) = 14)
) with (fillfactor = 70);

comment on table pgjobs.rollups is
  'How much ended in each minute, and how long it took. Example: select minute, completed from pgjobs.rollups where job_id = 0 and minute > now() - interval ''1 hour''';
comment on column pgjobs.rollups.job_id is 'The job; 0 for all jobs together.';
comment on column pgjobs.rollups.minute is 'The minute; -infinity counts all time of a job.';
comment on column pgjobs.rollups.completed is 'Tasks completed.';
comment on column pgjobs.rollups.failed is 'Tasks failed for good.';
comment on column pgjobs.rollups.cancelled is 'Tasks cancelled.';
comment on column pgjobs.rollups.retried is 'Failed attempts that are followed by another.';
comment on column pgjobs.rollups.waits is
  'How many attempts waited how long from due to claim: a count for each of pgjobs._histogram_bounds(), and one beyond.';
comment on column pgjobs.rollups.wait_seconds is 'How long they waited together.';
comment on column pgjobs.rollups.runs is 'The same of how long those completed took from their claim.';
comment on column pgjobs.rollups.run_seconds is 'How long they took together.';
comment on column pgjobs.rollups.ages is 'The same of how old tasks were at their last claim, delays and backoff included.';
comment on column pgjobs.rollups.age_seconds is 'How old they were together.';

-- What operators look at: errors counted by fingerprint.
create table pgjobs.error_counts (
  since timestamptz not null,
  job_id integer not null,
  fingerprint text not null,
  quantity bigint not null,
  error_kind text,
  message text not null,
  last_at timestamptz not null,
  last_task_id bigint not null,
  primary key (since, job_id, fingerprint)
) with (fillfactor = 70);

comment on table pgjobs.error_counts is 'Failed attempts, counted by fingerprint in steps of five minutes; kept for a week.';
comment on column pgjobs.error_counts.since is 'When the five minutes began.';
comment on column pgjobs.error_counts.job_id is 'The job.';
comment on column pgjobs.error_counts.fingerprint is 'What errors that differ only in numbers, ids and quoted words have in common.';
comment on column pgjobs.error_counts.quantity is 'How many.';
comment on column pgjobs.error_counts.error_kind is 'Their kind.';
comment on column pgjobs.error_counts.message is 'The last of them, one line.';
comment on column pgjobs.error_counts.last_at is 'When the last of them happened.';
comment on column pgjobs.error_counts.last_task_id is 'The task it happened to.';

-- Up to which event errors are counted: as in a cursor of list_events, the
-- snapshots between which the count stands, and its place among their events.
create table pgjobs.error_cursor (
  is_only boolean primary key default true,
  since pg_snapshot not null default '3:3:',
  upto pg_snapshot,
  after_xid xid8 not null default '0',
  after_id bigint not null default 0,
  constraint error_cursor_is_one_row check (is_only)
);
insert into pgjobs.error_cursor default values;

comment on table pgjobs.error_cursor is 'Up to which event errors are counted, one row.';
comment on column pgjobs.error_cursor.is_only is 'Always true: there is one row.';
comment on column pgjobs.error_cursor.since is 'Everything this snapshot shows is counted.';
comment on column pgjobs.error_cursor.upto is 'The snapshot that is being counted; empty: none.';
comment on column pgjobs.error_cursor.after_xid is 'Its transactions up to here are counted, …';
comment on column pgjobs.error_cursor.after_id is '… the last of them up to this event.';

-- People sign in with a browser: a session stands behind a cookie, a sign-in
-- link opens one, once. Both are secrets, so only their hashes are kept.
create table pgjobs.sessions (
  id uuid primary key default gen_random_uuid(),
  session_hash bytea not null,
  user_id text not null,
  is_superuser boolean not null default false,
  token_id uuid references pgjobs.api_tokens on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  rooms text[] not null default '{}',
  constraint session_hashes_are_unique unique (session_hash),
  constraint sessions_name_their_user check (user_id <> '' and length(user_id) <= 200)
);
create index sessions_in_time on pgjobs.sessions (expires_at);

comment on table pgjobs.sessions is 'Who is signed in with a browser; only hashes are kept.';
comment on column pgjobs.sessions.id is 'Internal id.';
comment on column pgjobs.sessions.session_hash is 'SHA-256 of what the cookie holds.';
comment on column pgjobs.sessions.user_id is 'Who is signed in.';
comment on column pgjobs.sessions.is_superuser is 'Whether they may do what superusers may.';
comment on column pgjobs.sessions.token_id is 'The API token it was opened with, which it does not outlive.';
comment on column pgjobs.sessions.created_at is 'When it was opened.';
comment on column pgjobs.sessions.expires_at is 'When it ceases to count.';
comment on column pgjobs.sessions.rooms is 'Where rooms are closed: those they are a member of.';

create table pgjobs.sign_ins (
  sign_in_hash bytea primary key,
  user_id text not null,
  is_superuser boolean not null default false,
  expires_at timestamptz not null,
  rooms text[] not null default '{}',
  constraint sign_ins_name_their_user check (user_id <> '' and length(user_id) <= 200)
);
create index sign_ins_in_time on pgjobs.sign_ins (expires_at);

comment on table pgjobs.sign_ins is 'Sign-in links nobody has followed yet; only hashes are kept.';
comment on column pgjobs.sign_ins.sign_in_hash is 'SHA-256 of what the link holds.';
comment on column pgjobs.sign_ins.user_id is 'Whom it signs in.';
comment on column pgjobs.sign_ins.is_superuser is 'Whether they may do what superusers may.';
comment on column pgjobs.sign_ins.expires_at is 'When it ceases to count.';
comment on column pgjobs.sign_ins.rooms is 'Where rooms are closed: those they are a member of.';

-- The rooms of tenants, logins that are confined to them. By name, because
-- a dump is restored where roles have other numbers.
create table pgjobs.room_grants (
  role text not null,
  room text not null,
  granted_at timestamptz not null,
  primary key (role, room),
  constraint rooms_are_well_formed check (
    room in ('@global', '@internal') or (room <> '' and room !~ '[@:]' and length(room) <= 200)
  )
);

comment on table pgjobs.room_grants is 'Which rooms a tenant''s role was granted; see pgjobs.grant_room.';
comment on column pgjobs.room_grants.role is 'The role, by name.';
comment on column pgjobs.room_grants.room is 'The room it submits to, sees and works in.';
comment on column pgjobs.room_grants.granted_at is 'Since when.';

-- What runs leave behind: where a job's runs write, where each run did, and which
-- clean-up task looks after it. The clean-up tasks are ordinary tasks of an
-- @internal job.
create table pgjobs.targets (
  job_id integer primary key references pgjobs.jobs on delete cascade,
  node_id text not null,
  target jsonb,
  constraint nodes_are_named check (node_id <> '' and length(node_id) <= 200),
  constraint targets_have_a_type check (jsonb_typeof(target -> 'type') = 'string')
);

comment on table pgjobs.targets is 'Where the runs of a job write.';
comment on column pgjobs.targets.job_id is 'The job.';
comment on column pgjobs.targets.node_id is 'The machine whose place it is.';
comment on column pgjobs.targets.target is 'Type and place; secrets are named, not held. Empty: taken back.';

create table pgjobs.run_targets (
  task_id bigint primary key,
  job_id integer not null,
  node_id text not null,
  target jsonb not null,
  taken_at timestamptz not null,
  cleanup_id bigint
);

comment on table pgjobs.run_targets is 'Where a run writes, as its job said when it started; it goes with the run.';
comment on column pgjobs.run_targets.task_id is 'The run.';
comment on column pgjobs.run_targets.job_id is 'Its job.';
comment on column pgjobs.run_targets.node_id is 'As in targets.';
comment on column pgjobs.run_targets.target is 'As in targets.';
comment on column pgjobs.run_targets.taken_at is 'When it was copied.';
comment on column pgjobs.run_targets.cleanup_id is 'The clean-up task of the run, which has one at most.';

-- Lost in a crash, which costs a finding until they are seen again.
create unlogged table pgjobs.cleaners (
  holder text primary key,
  node_id text,
  seen_at timestamptz not null
);

comment on table pgjobs.cleaners is 'Processes that clean up after incomplete runs, and for which node.';
comment on column pgjobs.cleaners.holder is 'What it calls itself when it claims.';
comment on column pgjobs.cleaners.node_id is 'The node whose targets it cleans; empty: the hub''s, and WebDAV targets of every node.';
comment on column pgjobs.cleaners.seen_at is 'When it last asked for work, to the minute.';

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
