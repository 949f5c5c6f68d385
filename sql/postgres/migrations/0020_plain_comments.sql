-- Comments of tables and columns, in the words that the documentation uses.

comment on column pgjobs.settings.worker_timeout is 'A worker without a heartbeat for longer is removed by the next sweep.';
comment on column pgjobs.settings.max_outages is
  'How often in a row an outage may end an attempt without using it up; after that it counts as any error.';
comment on table pgjobs.jobs is 'Job types known to this queue; also where their tasks wait, one lane per priority.';
comment on column pgjobs.jobs.paused_at is 'Since when it is paused: its tasks are not claimed.';
comment on column pgjobs.jobs.archived_at is 'Since when it is archived: hidden, accepts no tasks and hands out none; history is kept.';
comment on column pgjobs.jobs.deleted_at is 'Since when it is retired: no worker serves it and no task waits; registering it again restores it.';
comment on column pgjobs.jobs.keep is 'Whether it stays when no worker serves it; if not, it is retired with its last worker.';
comment on column pgjobs.jobs.max_running is 'Concurrency limit: how many of its tasks may be claimed or running at once; empty: none.';
comment on column pgjobs.ready.due_at is 'Since when it is due: its position in the lane.';
comment on column pgjobs.ready.is_again is 'True when it returned to the queue: it was scheduled, released, retried or ignored before.';
comment on column pgjobs.ready.is_released is 'True when a lease of it was released and it has its old position again.';
comment on column pgjobs.leases.attempt is 'Number of the attempt, from 1.';
comment on column pgjobs.leases.due_at is 'Since when the task was due: its position in the queue if it is released.';
comment on column pgjobs.leases.updated_at is 'When it was last renewed, reported on or its cancellation requested; empty: never.';
comment on column pgjobs.leases.cancel_requested_at is 'When cancellation was requested.';
comment on column pgjobs.outcomes.result is 'Its result.';
comment on table pgjobs.ignored is 'Tasks an operator ignored.';
comment on table pgjobs.attempts is 'Attempts that did not end their task: failed and retried, or undone by an operator.';
comment on column pgjobs.attempts.attempt is 'Number of the attempt, from 1.';
comment on column pgjobs.workers.registered_at is 'When it was registered.';
comment on column pgjobs.workers.last_heartbeat_at is 'When its last heartbeat came.';
comment on column pgjobs.workers.connection_id is
  'The Socket.IO connection it joined by last; losing another connection does not remove the worker.';
comment on column pgjobs.events.room is 'The room it is announced to.';
comment on table pgjobs.providers is 'Registered providers, which answer reads; they are removed with their worker.';
comment on table pgjobs.reads is 'Cached answers of providers.';
comment on column pgjobs.reads.expires_at is 'When it expires.';
comment on table pgjobs.reads_in_flight is 'Questions that were passed on to their provider and are not answered yet.';
comment on column pgjobs.api_tokens.user_id is 'The user it belongs to.';
comment on column pgjobs.api_tokens.expires_at is 'When it expires; empty: never.';
comment on column pgjobs.api_tokens.revoked_at is 'When it was revoked.';
comment on column pgjobs.sessions.expires_at is 'When it expires.';
comment on column pgjobs.sign_ins.expires_at is 'When it expires.';
comment on column pgjobs.uncounted.claimed_at is 'When the lease of each began, by position; empty for one cancelled while pending.';
comment on column pgjobs.targets.node_id is 'The machine that the target belongs to.';
comment on column pgjobs.targets.target is 'Type and place; secrets are named, not held. Empty: withdrawn.';
comment on column pgjobs.run_targets.cleanup_id is 'The cleanup task of the run, at most one.';
comment on column pgjobs.cleaners.holder is 'The name it claims with.';
comment on column pgjobs.cleaners.seen_at is 'When it last polled for work, to the minute.';
comment on table pgjobs.schedules is 'Recurring jobs: what to run and when.';
comment on column pgjobs.schedules.missed is 'What happens to missed runs: once (one run for all of them), each, or skip.';
comment on column pgjobs.schedules.paused_at is 'Since when it is paused.';
comment on column pgjobs.schedule_runs.is_manual is 'Whether somebody requested it, besides the schedule''s times.';
