-- What operators look at. Each view is the function of its name without arguments,
-- so whoever looks needs no table, and a look costs the same however much there is.

create view pgjobs.overview as
select v.* from pgjobs.overview() as v;

comment on view pgjobs.overview is 'The queue in one row. Example: select * from pgjobs.overview';
comment on column pgjobs.overview.at is 'When the numbers were read.';
comment on column pgjobs.overview.jobs is 'Registered jobs that are not archived.';
comment on column pgjobs.overview.paused_jobs is 'Paused jobs, whose tasks are not claimed.';
comment on column pgjobs.overview.workers is 'Registered workers.';
comment on column pgjobs.overview.silent_workers is 'Those whose heartbeats have stopped.';
comment on column pgjobs.overview.waiting is 'Tasks that are due, up to a thousand of each job counted, beyond that estimated.';
comment on column pgjobs.overview.oldest_wait is 'How long the first of them has been due.';
comment on column pgjobs.overview.scheduled is 'Tasks that are due later, likewise.';
comment on column pgjobs.overview.claimed is 'Tasks leased and not started.';
comment on column pgjobs.overview.running is 'Tasks being worked on.';
comment on column pgjobs.overview.overdue is 'Leases that have lapsed and await a sweep.';
comment on column pgjobs.overview.ignored is 'Ignored tasks, counted up to 10,000.';
comment on column pgjobs.overview.completed_last_hour is 'Tasks completed in the last hour.';
comment on column pgjobs.overview.failed_last_hour is 'Tasks failed for good in the last hour.';
comment on column pgjobs.overview.cancelled_last_hour is 'Tasks cancelled in the last hour.';
comment on column pgjobs.overview.retried_last_hour is 'Attempts of the last hour that failed and are followed by another.';
comment on column pgjobs.overview.completed_per_minute is 'Tasks completed per minute over the last five.';
comment on column pgjobs.overview.wait_p50 is 'Queue latency: seconds from due to claim that half of the tasks of the last hour stayed below.';
comment on column pgjobs.overview.wait_p95 is 'The same of 95 in 100.';
comment on column pgjobs.overview.run_p50 is 'Seconds from claim to completion that half of the tasks of the last hour stayed below.';
comment on column pgjobs.overview.run_p95 is 'The same of 95 in 100.';

create view pgjobs.top as
select v.* from pgjobs.top() as v;

comment on view pgjobs.top is 'The busiest jobs on a narrow screen. Example: select * from pgjobs.top \watch 2';
comment on column pgjobs.top.job is 'Its address, shortened in the middle.';
comment on column pgjobs.top.state is 'archived, paused, overdue, unserved, busy or idle.';
comment on column pgjobs.top.live is 'Live workers that serve it.';
comment on column pgjobs.top.due is 'Tasks that are due.';
comment on column pgjobs.top.oldest is 'How long the first of them has been due.';
comment on column pgjobs.top.later is 'Tasks due later.';
comment on column pgjobs.top.held is 'Tasks claimed or running.';
comment on column pgjobs.top.done is 'Completed per minute, over the last five.';
comment on column pgjobs.top.failed is 'Failed for good per minute.';
comment on column pgjobs.top.wait is 'Queue latency that 95 of 100 tasks stay below.';
comment on column pgjobs.top.run is 'Duration that 95 of 100 tasks stay below.';

create view pgjobs.jobs_status as
select v.* from pgjobs.jobs_status() as v;

comment on view pgjobs.jobs_status is 'Every job with what waits, runs and ended. Example: select job, state, waiting, running from pgjobs.jobs_status';
comment on column pgjobs.jobs_status.job is 'Its address.';
comment on column pgjobs.jobs_status.state is 'open, paused or archived.';
comment on column pgjobs.jobs_status.workers is 'Live workers that serve it.';
comment on column pgjobs.jobs_status.waiting is 'Tasks that are due, counted up to a thousand, beyond that estimated.';
comment on column pgjobs.jobs_status.oldest_wait is 'How long the first of them has been due.';
comment on column pgjobs.jobs_status.scheduled is 'Tasks that are due later, likewise.';
comment on column pgjobs.jobs_status.claimed is 'Tasks leased and not started.';
comment on column pgjobs.jobs_status.running is 'Tasks being worked on.';
comment on column pgjobs.jobs_status.overdue is 'Leases that have lapsed and await a sweep.';
comment on column pgjobs.jobs_status.completed_last_hour is 'Tasks completed in the last hour.';
comment on column pgjobs.jobs_status.failed_last_hour is 'Tasks failed for good in the last hour.';
comment on column pgjobs.jobs_status.cancelled_last_hour is 'Tasks cancelled in the last hour.';
comment on column pgjobs.jobs_status.retried_last_hour is 'Failed attempts of the last hour that are followed by another.';
comment on column pgjobs.jobs_status.wait_p50 is 'Queue latency: seconds from due to claim that half of the tasks of the last hour stayed below.';
comment on column pgjobs.jobs_status.wait_p95 is 'The same of 95 in 100.';
comment on column pgjobs.jobs_status.run_p50 is 'Seconds from claim to completion that half of the tasks of the last hour stayed below.';
comment on column pgjobs.jobs_status.run_p95 is 'The same of 95 in 100.';
comment on column pgjobs.jobs_status.job_id is 'Its number.';
comment on column pgjobs.jobs_status.pause_reason is 'Why it is paused.';

create view pgjobs.running as
select v.* from pgjobs.running() as v;

comment on view pgjobs.running is 'Claimed and running tasks, at most 500. Example: select task_id, job, worker, held_for from pgjobs.running';
comment on column pgjobs.running.task_id is 'The task.';
comment on column pgjobs.running.job is 'Address of its job.';
comment on column pgjobs.running.room is 'Where it was submitted from.';
comment on column pgjobs.running.status is 'claimed or running.';
comment on column pgjobs.running.phase is 'overdue when its lease has lapsed.';
comment on column pgjobs.running.attempt is 'Number of the attempt, from 1.';
comment on column pgjobs.running.max_attempts is 'Attempts it may use.';
comment on column pgjobs.running.worker is 'Name of its worker or holder.';
comment on column pgjobs.running.held_for is 'How long it has been held.';
comment on column pgjobs.running.claimed_at is 'When its lease began.';
comment on column pgjobs.running.started_at is 'When work began.';
comment on column pgjobs.running.until is 'When its lease lapses.';
comment on column pgjobs.running.progress is 'What its worker last reported.';
comment on column pgjobs.running.cancel_requested_at is 'When cancellation was requested.';
comment on column pgjobs.running.worker_id is 'The worker that holds it, if registered.';

create view pgjobs.waiting as
select v.* from pgjobs.waiting() as v;

comment on view pgjobs.waiting is 'The first ten due tasks of every lane. Example: select job, place, task_id, waited from pgjobs.waiting';
comment on column pgjobs.waiting.job is 'Address of its job.';
comment on column pgjobs.waiting.priority is 'Its lane: 1 (most urgent) to 10.';
comment on column pgjobs.waiting.place is 'Its place in the lane.';
comment on column pgjobs.waiting.task_id is 'The task.';
comment on column pgjobs.waiting.room is 'Where it was submitted from.';
comment on column pgjobs.waiting.due_at is 'Since when it is due.';
comment on column pgjobs.waiting.waited is 'The same, as a duration.';
comment on column pgjobs.waiting.attempt is 'Attempts used.';
comment on column pgjobs.waiting.max_attempts is 'Attempts it may use.';
comment on column pgjobs.waiting.owner is 'Whose work it is.';

create view pgjobs.scheduled_tasks as
select v.* from pgjobs.scheduled_tasks() as v;

comment on view pgjobs.scheduled_tasks is 'The next 500 tasks that become due. Example: select due_in, task_id, job, phase from pgjobs.scheduled_tasks';
comment on column pgjobs.scheduled_tasks.run_at is 'When it becomes due.';
comment on column pgjobs.scheduled_tasks.due_in is 'The same, as a duration.';
comment on column pgjobs.scheduled_tasks.task_id is 'The task.';
comment on column pgjobs.scheduled_tasks.job is 'Address of its job.';
comment on column pgjobs.scheduled_tasks.room is 'Where it was submitted from.';
comment on column pgjobs.scheduled_tasks.phase is 'scheduled, retrying, blocked (by an error of kind auth or config), sleeping or waiting (for a signal, with a time).';
comment on column pgjobs.scheduled_tasks.priority is 'The lane it will enter.';
comment on column pgjobs.scheduled_tasks.attempt is 'Attempts used.';
comment on column pgjobs.scheduled_tasks.max_attempts is 'Attempts it may use.';
comment on column pgjobs.scheduled_tasks.error_kind is 'Kind of the error it backs off after.';
comment on column pgjobs.scheduled_tasks.error is 'That error, one line.';

create view pgjobs.failed as
select v.* from pgjobs.failed() as v;

comment on view pgjobs.failed is 'The 200 newest tasks that failed for good. Example: select task_id, job, error from pgjobs.failed limit 20';
comment on column pgjobs.failed.task_id is 'The task.';
comment on column pgjobs.failed.job is 'Address of its job.';
comment on column pgjobs.failed.room is 'Where it was submitted from.';
comment on column pgjobs.failed.ended_at is 'When it failed.';
comment on column pgjobs.failed.attempt is 'Attempts used.';
comment on column pgjobs.failed.max_attempts is 'Attempts it could use.';
comment on column pgjobs.failed.error_kind is 'Kind of the last error.';
comment on column pgjobs.failed.error is 'The last error, one line.';
comment on column pgjobs.failed.worker_id is 'The worker that failed it.';
comment on column pgjobs.failed.holder is 'Who failed it, if not a registered worker.';
comment on column pgjobs.failed.owner is 'Whose work it is.';
comment on column pgjobs.failed.task_uuid is 'Public id of the task.';

create view pgjobs.stuck as
select v.* from pgjobs.stuck() as v;

comment on view pgjobs.stuck is 'Tasks that should have moved. Example: select task_id, job, problem, advice from pgjobs.stuck';
comment on column pgjobs.stuck.task_id is 'The task.';
comment on column pgjobs.stuck.job is 'Address of its job.';
comment on column pgjobs.stuck.problem is 'Why it is listed.';
comment on column pgjobs.stuck.since is 'Since when.';
comment on column pgjobs.stuck.advice is 'The SQL that fixes it.';

create view pgjobs.errors as
select v.* from pgjobs.errors() as v;

comment on view pgjobs.errors is 'Failed attempts of the last week by fingerprint. Example: select last_hour, last_day, job, message from pgjobs.errors';
comment on column pgjobs.errors.fingerprint is 'What these errors have in common.';
comment on column pgjobs.errors.job is 'Address of the job.';
comment on column pgjobs.errors.error_kind is 'Their kind.';
comment on column pgjobs.errors.message is 'The last of them, one line.';
comment on column pgjobs.errors.last_hour is 'How many in the last hour.';
comment on column pgjobs.errors.last_day is 'How many in the last 24 hours.';
comment on column pgjobs.errors.last_week is 'How many in the last 7 days.';
comment on column pgjobs.errors.last_at is 'When the last one happened.';
comment on column pgjobs.errors.last_task_id is 'The task it happened to.';

create view pgjobs.workers_status as
select v.* from pgjobs.workers_status() as v;

comment on view pgjobs.workers_status is 'Registered workers and what they hold. Example: select name, is_alive, heartbeat_age, running from pgjobs.workers_status';
comment on column pgjobs.workers_status.worker_id is 'The worker.';
comment on column pgjobs.workers_status.name is 'What people call it.';
comment on column pgjobs.workers_status.owner is 'The user it belongs to.';
comment on column pgjobs.workers_status.is_alive is 'Whether it still sends heartbeats.';
comment on column pgjobs.workers_status.heartbeat_age is 'How long ago the last one came.';
comment on column pgjobs.workers_status.registered_at is 'When it was registered.';
comment on column pgjobs.workers_status.jobs is 'How many jobs it serves.';
comment on column pgjobs.workers_status.claimed is 'Tasks it has leased and not started.';
comment on column pgjobs.workers_status.running is 'Tasks it works on.';
comment on column pgjobs.workers_status.overdue is 'Its leases that have lapsed.';
comment on column pgjobs.workers_status.oldest_claim is 'How long it has held the oldest of them.';

create view pgjobs.providers_status as
select v.* from pgjobs.providers_status() as v;

comment on view pgjobs.providers_status is 'Registered providers and their answers. Example: select provider, is_alive, kept from pgjobs.providers_status';
comment on column pgjobs.providers_status.provider is 'Its address.';
comment on column pgjobs.providers_status.content_type is 'Media type of its answers.';
comment on column pgjobs.providers_status.owner is 'The user it belongs to.';
comment on column pgjobs.providers_status.worker_id is 'The worker that answers.';
comment on column pgjobs.providers_status.worker is 'The name of that worker.';
comment on column pgjobs.providers_status.is_alive is 'Whether that worker still sends heartbeats.';
comment on column pgjobs.providers_status.heartbeat_age is 'How long ago the last one came.';
comment on column pgjobs.providers_status.kept is 'Cached answers.';
comment on column pgjobs.providers_status.in_flight is 'Questions in flight.';
comment on column pgjobs.providers_status.created_at is 'When it was first registered.';

create view pgjobs.throughput as
select v.* from pgjobs.throughput() as v;

comment on view pgjobs.throughput is 'What ended in each minute of the last hour. Example: select at, completed, failed, wait_p95 from pgjobs.throughput';
comment on column pgjobs.throughput.at is 'The minute.';
comment on column pgjobs.throughput.completed is 'Tasks completed.';
comment on column pgjobs.throughput.failed is 'Tasks failed for good.';
comment on column pgjobs.throughput.cancelled is 'Tasks cancelled.';
comment on column pgjobs.throughput.retried is 'Failed attempts that are followed by another.';
comment on column pgjobs.throughput.wait_p50 is 'Queue latency: seconds from due to claim that half stayed below.';
comment on column pgjobs.throughput.wait_p95 is 'The same of 95 in 100.';
comment on column pgjobs.throughput.run_p50 is 'Seconds from claim to completion that half stayed below.';
comment on column pgjobs.throughput.run_p95 is 'The same of 95 in 100.';

create view pgjobs.metrics as
select v.* from pgjobs.metrics() as v;

comment on view pgjobs.metrics is 'The numbers of every job. Example: select job_type, quantity from pgjobs.metrics where measure = ''backlog''';
comment on column pgjobs.metrics.domain is 'The room of the job.';
comment on column pgjobs.metrics.queue is 'The category of the job.';
comment on column pgjobs.metrics.job_type is 'The name of the job.';
comment on column pgjobs.metrics.measure is 'queued, backlog, processing, stale_processing, paused, schedules, overdue_schedules; since the beginning completed, failed, cancelled, retried, duration, latency.';
comment on column pgjobs.metrics.up_to is 'Of a duration or latency: upper bound of the bucket, in seconds.';
comment on column pgjobs.metrics.quantity is 'How many.';
comment on column pgjobs.metrics.seconds is 'Durations or latencies together, with the last bucket.';

create view pgjobs.findings as
select v.* from pgjobs.findings() as v;

comment on view pgjobs.findings is 'Issues found. Example: select severity, subject, message, advice from pgjobs.findings';
comment on column pgjobs.findings.severity is 'error, warning or info.';
comment on column pgjobs.findings.subject is 'What it is about.';
comment on column pgjobs.findings.message is 'What is wrong.';
comment on column pgjobs.findings.advice is 'The SQL to run.';

create view pgjobs.storage as
select v.* from pgjobs.storage() as v;

comment on view pgjobs.storage is 'The health of every table. Example: select relation, live, dead, pg_size_pretty(total_bytes) from pgjobs.storage';
comment on column pgjobs.storage.relation is 'The table.';
comment on column pgjobs.storage.live is 'About how many rows it has.';
comment on column pgjobs.storage.dead is 'About how many dead rows await vacuum.';
comment on column pgjobs.storage.dead_share is 'Share of the dead among all.';
comment on column pgjobs.storage.table_bytes is 'Size without indexes.';
comment on column pgjobs.storage.index_bytes is 'Size of its indexes.';
comment on column pgjobs.storage.total_bytes is 'Both.';
comment on column pgjobs.storage.hot_share is 'Share of updates that left its indexes alone.';
comment on column pgjobs.storage.last_vacuum_at is 'When it was last vacuumed.';
comment on column pgjobs.storage.last_analyze_at is 'When it was last analyzed.';

create view pgjobs.blockers as
select v.* from pgjobs.blockers() as v;

comment on view pgjobs.blockers is 'Sessions and slots that keep dead rows from being removed. Example: select kind, name, age, advice from pgjobs.blockers';
comment on column pgjobs.blockers.kind is 'session, prepared transaction, standby or replication slot.';
comment on column pgjobs.blockers.name is 'Which one.';
comment on column pgjobs.blockers.pid is 'Its process.';
comment on column pgjobs.blockers.state is 'Its state, as Postgres reports it.';
comment on column pgjobs.blockers.since is 'When its transaction began.';
comment on column pgjobs.blockers.age is 'How long ago that is.';
comment on column pgjobs.blockers.held_back is 'Transactions since.';
comment on column pgjobs.blockers.advice is 'The SQL that releases it.';

create view pgjobs.task_events as
select
  e.task_id,
  e.at,
  e.kind,
  j.full_name as job,
  e.room,
  e.status,
  e.worker_id,
  e.actor,
  e.message,
  e.fields
from pgjobs.events as e
left join pgjobs.jobs as j on j.id = e.job_id
where e.task_id is not null;

comment on view pgjobs.task_events is
  'What happened to tasks. Example: select at, kind, message from pgjobs.task_events where task_id = 42 order by at';
comment on column pgjobs.task_events.task_id is 'The task.';
comment on column pgjobs.task_events.at is 'When.';
comment on column pgjobs.task_events.kind is 'The verb: submitted, claimed, started, completed, retrying, failed, cancelled, …';
comment on column pgjobs.task_events.job is 'Address of its job.';
comment on column pgjobs.task_events.room is 'The room it is announced to.';
comment on column pgjobs.task_events.status is 'The task''s status after it.';
comment on column pgjobs.task_events.worker_id is 'The worker involved.';
comment on column pgjobs.task_events.actor is 'Who did it, if a person did.';
comment on column pgjobs.task_events.message is 'Error or reason, one line.';
comment on column pgjobs.task_events.fields is 'Further details.';

-- For tenants: it hides rows, so nothing of the others' may be evaluated before.
create view pgjobs.my_tasks with (security_barrier) as
select
  t.id,
  t.uuid,
  t.job,
  t.room,
  t.status,
  t.phase,
  t.priority,
  t.attempt,
  t.max_attempts,
  t.created_at,
  t.due_at,
  t.started_at,
  t.ended_at,
  t.error,
  t.error_kind,
  t.submitter,
  t.owner
from pgjobs.task as t
where t.room = any(array(select m.room from pgjobs.my_rooms() as m));

comment on view pgjobs.my_tasks is
  'The tasks of the rooms that are open to this tenant. Example: select id, job, status from pgjobs.my_tasks order by id desc limit 10';
comment on column pgjobs.my_tasks.id is 'Internal number.';
comment on column pgjobs.my_tasks.uuid is 'Public id.';
comment on column pgjobs.my_tasks.job is 'Address of its job.';
comment on column pgjobs.my_tasks.room is 'Where it was submitted from.';
comment on column pgjobs.my_tasks.status is 'pending, claimed, running, completed, failed, cancelled or ignored.';
comment on column pgjobs.my_tasks.phase is
  'For people: scheduled, due, retrying or blocked while pending; overdue when its lease has lapsed.';
comment on column pgjobs.my_tasks.priority is '1 (most urgent) to 10.';
comment on column pgjobs.my_tasks.attempt is 'Attempts used, the present one included.';
comment on column pgjobs.my_tasks.max_attempts is 'Attempts it may use.';
comment on column pgjobs.my_tasks.created_at is 'When it was submitted.';
comment on column pgjobs.my_tasks.due_at is 'When it becomes or became due, while pending.';
comment on column pgjobs.my_tasks.started_at is 'When its last attempt began to run.';
comment on column pgjobs.my_tasks.ended_at is 'When it ended.';
comment on column pgjobs.my_tasks.error is 'What its last attempt failed with.';
comment on column pgjobs.my_tasks.error_kind is 'The kind of that error.';
comment on column pgjobs.my_tasks.submitter is 'Who submitted it.';
comment on column pgjobs.my_tasks.owner is 'Whose work it is.';
