create view pgjobs.problems as
select p.sqlstate, p.problem, p.status, p.title
from (values
  ('PJ001', 'job-not-found', 404, 'No such job, or not visible from there'),
  ('PJ002', 'task-not-found', 404, 'No such task'),
  ('PJ003', 'worker-not-found', 404, 'No such worker'),
  ('PJ004', 'provider-not-found', 404, 'No such provider, or not visible from there'),
  ('PJ005', 'schema-conflict', 409, 'The job is registered with another schema'),
  ('PJ006', 'invalid-task-transition', 409, 'The task''s current status does not allow this change'),
  ('PJ007', 'lease-lost', 409, 'The lease lapsed or passed to another worker'),
  ('PJ008', 'no-workers-available', 409, 'No worker serves the job'),
  ('PJ009', 'invalid-category', 400, 'The category is not allowed here'),
  ('PJ010', 'invalid-room-id', 400, 'Malformed room'),
  ('PJ011', 'forbidden', 403, 'The acting user may not do this'),
  ('PJ012', 'payload-too-large', 413, 'A payload or result exceeds the size limit'),
  ('PJ013', 'payload-invalid', 422, 'A payload does not fit'),
  ('PJ014', 'validation-error', 422, 'An argument is missing, malformed or out of range'),
  ('PJ015', 'internal-job-not-configured', 503, 'No executor for @internal jobs'),
  ('PJ016', 'provider-timeout', 504, 'The provider did not answer in time'),
  ('PJ017', 'unauthorized', 401, 'No valid credentials were presented'),
  ('PJ018', 'room-locked', 423, 'The host application has locked the room'),
  ('PJ019', 'job-unavailable', 409, 'The job is archived, or still has work'),
  ('PJ020', 'direct-change', 409, 'Rows are changed by verbs only'),
  ('PJ021', 'schedule-not-found', 404, 'No such schedule'),
  ('PJ022', 'not-on-sqlite', 501, 'SQLite does not have this: it needs Postgres'),
  ('PJ023', 'token-not-found', 404, 'No such API token'),
  ('PJ024', 'workflow-not-found', 404, 'No such workflow'),
  ('PJ025', 'quota-exceeded', 429, 'The owner has as many tasks as the quota allows')
) as p (sqlstate, problem, status, title);

comment on view pgjobs.problems is
  'Every error of class PJ. Example: select * from pgjobs.problems where sqlstate = ''PJ007''';
comment on column pgjobs.problems.sqlstate is 'What SQL raises.';
comment on column pgjobs.problems.problem is 'What HTTP calls it.';
comment on column pgjobs.problems.status is 'The HTTP status.';
comment on column pgjobs.problems.title is 'What it means.';

-- A first entry in ready is found by its primary key, one that came back by the partial index.
create view pgjobs.task as
select
  t.id,
  pgjobs._uuid_of(t.id, (select k.task_key from pgjobs.secrets as k)) as uuid,
  j.full_name as job,
  t.room,
  case
    when o.task_id is not null then o.status
    when l.started_at is not null then 'running'
    when l.task_id is not null then 'claimed'
    when i.task_id is not null then 'ignored'
    else 'pending'
  end as status,
  case
    when i.is_quarantined then 'quarantined'
    when l.until <= pgjobs._present() then 'overdue'
    when s.waits_for is not null then pgjobs._wait_phase(s.waits_for)
    when s.error is not null and s.error_kind in ('auth', 'config') then 'blocked'
    when s.error is not null then 'retrying'
    when s.run_at > pgjobs._present() then 'scheduled'
    when o.task_id is null and l.task_id is null and i.task_id is null then 'due'
  end as phase,
  t.priority,
  coalesce(o.attempt, l.attempt, i.attempt, s.attempt, r.attempt, a.attempt, 0::smallint) as attempt,
  t.max_attempts,
  t.created_at,
  case when s.waits_for is null or s.run_at < pgjobs._never() then coalesce(s.run_at, r.due_at, a.due_at) end as due_at,
  coalesce(l.claimed_at, o.claimed_at) as claimed_at,
  coalesce(l.started_at, o.started_at) as started_at,
  o.ended_at,
  l.until,
  coalesce(l.worker_id, o.worker_id) as worker_id,
  coalesce(l.holder, o.holder) as holder,
  coalesce(o.error, s.error) as error,
  coalesce(o.error_kind, s.error_kind) as error_kind,
  l.progress,
  l.cancel_requested_at,
  coalesce(o.reason, l.cancel_reason, i.reason) as reason,
  t.submitter,
  t.owner,
  t.project,
  t.tags,
  t.idempotency_key,
  t.job_id
from pgjobs.tasks as t
join pgjobs.jobs as j on j.id = t.job_id
left join pgjobs.outcomes as o on o.task_id = t.id
left join pgjobs.leases as l on l.task_id = t.id
left join pgjobs.ignored as i on i.task_id = t.id
left join pgjobs.scheduled as s on s.task_id = t.id
left join pgjobs.ready as r
  on r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
left join pgjobs.ready as a on a.task_id = t.id and a.is_again;

comment on view pgjobs.task is
  'Every task in one row, without its payload. Example: select id, job, status, phase from pgjobs.task where id = 42';
comment on column pgjobs.task.id is 'Internal number.';
comment on column pgjobs.task.uuid is 'Public id.';
comment on column pgjobs.task.job is 'Address of its job.';
comment on column pgjobs.task.room is 'Where it was submitted from.';
comment on column pgjobs.task.status is 'pending, claimed, running, completed, failed, cancelled or ignored.';
comment on column pgjobs.task.phase is
  'For people: scheduled, due, retrying, blocked (by an error of kind auth or config), sleeping, waiting (for a signal or for tasks it called), dependent (on parents that have not ended) or held (a parent failed) while pending; quarantined when it is ignored because its attempts end in the same way; overdue when its lease has lapsed.';
comment on column pgjobs.task.priority is '1 (most urgent) to 10.';
comment on column pgjobs.task.attempt is 'Attempts used, the present one included.';
comment on column pgjobs.task.max_attempts is 'Attempts it may use.';
comment on column pgjobs.task.created_at is 'When it was submitted.';
comment on column pgjobs.task.due_at is 'When it becomes or became due, while pending.';
comment on column pgjobs.task.claimed_at is 'When its last lease began.';
comment on column pgjobs.task.started_at is 'When its last attempt began to run.';
comment on column pgjobs.task.ended_at is 'When it ended.';
comment on column pgjobs.task.until is 'When its lease lapses.';
comment on column pgjobs.task.worker_id is 'The worker that holds or ended it.';
comment on column pgjobs.task.holder is 'The holder, if not a registered worker.';
comment on column pgjobs.task.error is 'What its last attempt failed with.';
comment on column pgjobs.task.error_kind is 'The kind of that error.';
comment on column pgjobs.task.progress is 'What its worker last reported.';
comment on column pgjobs.task.cancel_requested_at is 'When cancellation was requested.';
comment on column pgjobs.task.reason is 'Why it was cancelled or ignored.';
comment on column pgjobs.task.submitter is 'Who submitted it.';
comment on column pgjobs.task.owner is 'Whose work it is.';
comment on column pgjobs.task.project is 'What it belongs to.';
comment on column pgjobs.task.tags is 'Free words to find it by.';
comment on column pgjobs.task.idempotency_key is 'The key it was submitted under.';
comment on column pgjobs.task.job_id is 'Number of its job.';

-- Not granted to anyone: payloads and results leave through get_task only.
create view pgjobs.task_document as
select
  v.id,
  v.uuid,
  v.job,
  v.room,
  v.status,
  v.phase,
  v.priority,
  v.attempt,
  v.max_attempts,
  v.created_at,
  v.due_at,
  v.claimed_at,
  v.started_at,
  v.ended_at,
  v.until,
  v.worker_id,
  v.holder,
  v.error,
  v.error_kind,
  -- In this attempt or in an earlier one, until the task has ended.
  coalesce(v.progress, case when v.ended_at is null then k.progress end) as progress,
  v.cancel_requested_at,
  v.reason,
  v.submitter,
  v.owner,
  v.project,
  v.tags,
  v.idempotency_key,
  v.job_id,
  pgjobs._shown_payload(t.payload, (select c.show_secrets from pgjobs.settings as c)) as payload,
  o.result
from pgjobs.task as v
join pgjobs.tasks as t on t.id = v.id
left join pgjobs.outcomes as o on o.task_id = v.id
left join pgjobs.kept_progress as k on k.task_id = v.id;

comment on view pgjobs.task_document is
  'A task with its payload and result. Example: select payload, result from pgjobs.get_task(42)';

create view pgjobs.job as
select
  j.id,
  j.uuid,
  j.full_name,
  j.room,
  j.category,
  j.name,
  j.schema,
  j.max_attempts,
  j.backoff_base,
  j.backoff_cap,
  j.jitter_share,
  j.jitter_cap,
  j.max_age,
  j.max_running,
  j.events,
  j.retain_completed,
  j.retain_failed,
  j.created_at,
  j.paused_at,
  j.archived_at,
  j.deleted_at,
  j.keep,
  array(select w.worker_id from pgjobs.worker_jobs as w where w.job_id = j.id order by w.worker_id) as workers
from pgjobs.jobs as j;

comment on view pgjobs.job is 'Every job with the workers that serve it. Example: select full_name, workers from pgjobs.job';
comment on column pgjobs.job.id is 'Internal number.';
comment on column pgjobs.job.uuid is 'Public id.';
comment on column pgjobs.job.full_name is 'The address, room:category:name.';
comment on column pgjobs.job.room is 'Scope: @global, @internal or a room''s own name.';
comment on column pgjobs.job.category is 'Second part of the address.';
comment on column pgjobs.job.name is 'Third part of the address.';
comment on column pgjobs.job.schema is 'JSON Schema of the payload.';
comment on column pgjobs.job.max_attempts is 'How often a task may be leased before it fails for good.';
comment on column pgjobs.job.backoff_base is 'Delay after the first failed attempt.';
comment on column pgjobs.job.backoff_cap is 'Longest delay between attempts, before jitter.';
comment on column pgjobs.job.jitter_share is 'Share of the delay that may be added.';
comment on column pgjobs.job.jitter_cap is 'Jitter never exceeds this.';
comment on column pgjobs.job.max_age is 'A task older than this is not retried.';
comment on column pgjobs.job.max_running is 'How many of its tasks may be claimed or running at once.';
comment on column pgjobs.job.events is 'failures or full.';
comment on column pgjobs.job.retain_completed is 'Overrides settings.retain_completed.';
comment on column pgjobs.job.retain_failed is 'Overrides settings.retain_failed.';
comment on column pgjobs.job.created_at is 'When it was first registered.';
comment on column pgjobs.job.paused_at is 'Since when it is paused: its tasks are not claimed.';
comment on column pgjobs.job.archived_at is 'Since when it is archived.';
comment on column pgjobs.job.deleted_at is 'When it was retired.';
comment on column pgjobs.job.keep is 'Whether it stays when no worker serves it.';
comment on column pgjobs.job.workers is 'Ids of the workers that serve it.';

-- Tasks in the words of the generic job manager. Reading only: its rows are
-- those of several tables.
create view pgjobs.generic_jobs as
select
  t.id,
  pgjobs._uuid_of(t.id, (select k.task_key from pgjobs.secrets as k)) as uuid,
  j.room as domain,
  j.category as queue,
  j.name as job_type,
  t.owner as owner_user_id,
  case when t.project ~ '^-?[0-9]{1,18}$' then t.project::bigint end as project_id,
  t.idempotency_key,
  pgjobs._shown_payload(t.payload, (select c.show_secrets from pgjobs.settings as c)) as payload,
  coalesce(o.result, case when o.status is distinct from 'completed' then k.result end) as result,
  case
    when o.task_id is not null then o.status
    when l.task_id is not null then 'processing'
    when i.is_quarantined then 'quarantined'
    when i.task_id is not null then 'cancelled'
    else 'queued'
  end as status,
  t.priority::integer as priority,
  t.max_attempts - 1 as max_retries,
  -- An attempt that holds or held the lease is no retry yet; one cancelled in line held none.
  case
    when coalesce(o.token, l.token) is not null then coalesce(o.attempt, l.attempt) - 1
    else coalesce(o.attempt, i.attempt, s.attempt, r.attempt, b.attempt, 0)
  end::integer as retry_count,
  coalesce(s.run_at, r.due_at, b.due_at) as available_at,
  l.until as leased_until,
  coalesce(l.token, o.token)::text as lease_id,
  coalesce(l.holder, l.worker_id::text, o.holder, o.worker_id::text) as worker_id,
  coalesce(l.claimed_at, o.claimed_at) as acquired_at,
  coalesce(o.error, a.error) as error_message,
  coalesce(o.error, a.error) as last_error,
  l.cancel_requested_at,
  coalesce(case when o.status = 'cancelled' then o.ended_at end, case when not i.is_quarantined then i.ignored_at end) as cancelled_at,
  coalesce(o.reason, l.cancel_reason, i.reason) as cancellation_reason,
  t.created_at,
  greatest(
    t.created_at, a.ended_at, l.claimed_at, l.started_at, l.cancel_requested_at, l.updated_at, o.ended_at, i.ignored_at,
    s.updated_at, b.updated_at
  ) as updated_at,
  case when o.status = 'completed' then o.ended_at end as completed_at
from pgjobs.tasks as t
join pgjobs.jobs as j on j.id = t.job_id
left join pgjobs.outcomes as o on o.task_id = t.id
left join pgjobs.leases as l on l.task_id = t.id
left join pgjobs.ignored as i on i.task_id = t.id
left join pgjobs.scheduled as s on s.task_id = t.id
left join pgjobs.ready as r
  on r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
left join pgjobs.ready as b on b.task_id = t.id and b.is_again
left join pgjobs.kept_results as k on k.task_id = t.id
left join lateral (
  select e.error, e.ended_at from pgjobs.attempts as e where e.task_id = t.id order by e.id desc limit 1
) as a on true;

comment on view pgjobs.generic_jobs is
  'Every task in the words of the generic job manager. Example: select id, job_type, status from pgjobs.generic_jobs where domain = ''chatbooks''';
comment on column pgjobs.generic_jobs.id is 'Internal number.';
comment on column pgjobs.generic_jobs.uuid is 'Public id.';
comment on column pgjobs.generic_jobs.domain is 'The room of its job.';
comment on column pgjobs.generic_jobs.queue is 'The category of its job.';
comment on column pgjobs.generic_jobs.job_type is 'The name of its job.';
comment on column pgjobs.generic_jobs.owner_user_id is 'Whose work it is.';
comment on column pgjobs.generic_jobs.project_id is 'What it belongs to, where that is a number.';
comment on column pgjobs.generic_jobs.idempotency_key is 'The key it was created under.';
comment on column pgjobs.generic_jobs.payload is 'What to run it with, secrets hidden unless settings.show_secrets.';
comment on column pgjobs.generic_jobs.result is 'Its result; while it is queued or processing, what it has given so far.';
comment on column pgjobs.generic_jobs.status is 'queued, processing, completed, failed, quarantined or cancelled (also: ignored by an operator).';
comment on column pgjobs.generic_jobs.priority is '1 (most urgent) to 10.';
comment on column pgjobs.generic_jobs.max_retries is 'Attempts it may use after the first.';
comment on column pgjobs.generic_jobs.retry_count is 'Attempts that failed and were or will be followed by another.';
comment on column pgjobs.generic_jobs.available_at is 'While queued: from when on it may be acquired.';
comment on column pgjobs.generic_jobs.leased_until is 'When its lease lapses.';
comment on column pgjobs.generic_jobs.lease_id is 'Its present or last lease, which acknowledgements must name.';
comment on column pgjobs.generic_jobs.worker_id is 'The worker that holds it or ended it.';
comment on column pgjobs.generic_jobs.acquired_at is 'When its present or last lease began.';
comment on column pgjobs.generic_jobs.error_message is 'What its last failed attempt failed with.';
comment on column pgjobs.generic_jobs.last_error is 'The same.';
comment on column pgjobs.generic_jobs.cancel_requested_at is 'When cancellation was requested.';
comment on column pgjobs.generic_jobs.cancelled_at is 'When it was cancelled.';
comment on column pgjobs.generic_jobs.cancellation_reason is 'Why.';
comment on column pgjobs.generic_jobs.created_at is 'When it was created.';
comment on column pgjobs.generic_jobs.updated_at is 'When it was last written to: acquired, renewed, reported on, failed, released, retried, cancellation requested, or ended.';
comment on column pgjobs.generic_jobs.completed_at is 'When it was completed.';

-- What HTTP shows of a task. An ignored task has not ended, so it shows as pending.
create view pgjobs.task_answer as
select
  d.id,
  d.uuid,
  d.job,
  d.room,
  case d.status when 'ignored' then 'pending' else d.status end as status,
  d.created_at,
  d.started_at,
  d.ended_at,
  d.worker_id,
  coalesce(d.error, case when d.status = 'cancelled' then d.reason end) as error,
  d.payload,
  d.result,
  case when d.status = 'pending' then pgjobs._queue_position(d.id, d.job_id, d.priority) end as queue_position
from pgjobs.task_document as d;

comment on view pgjobs.task_answer is
  'What HTTP shows of a task. Example: select * from pgjobs.show_task(pgjobs.task_uuid(42))';
comment on column pgjobs.task_answer.id is 'Internal number.';
comment on column pgjobs.task_answer.uuid is 'Public id.';
comment on column pgjobs.task_answer.job is 'Address of its job.';
comment on column pgjobs.task_answer.room is 'Where it was submitted from.';
comment on column pgjobs.task_answer.status is 'pending, claimed, running, completed, failed or cancelled.';
comment on column pgjobs.task_answer.created_at is 'When it was submitted.';
comment on column pgjobs.task_answer.started_at is 'When its last attempt began to run.';
comment on column pgjobs.task_answer.ended_at is 'When it ended.';
comment on column pgjobs.task_answer.worker_id is 'The worker that holds or ended it.';
comment on column pgjobs.task_answer.error is 'What it failed with, or why it was cancelled.';
comment on column pgjobs.task_answer.payload is 'What to run it with, secrets hidden unless settings.show_secrets.';
comment on column pgjobs.task_answer.result is 'Its result.';
comment on column pgjobs.task_answer.queue_position is 'Its place among the pending tasks of its job.';

-- The same of a task that is claimed or running, from three tables instead of
-- all, and with the token: it fences acknowledgements off from later leases, so
-- nobody but the holder may see it.
create view pgjobs.claim_answer as
select
  t.id,
  pgjobs._uuid_of(t.id, (select k.task_key from pgjobs.secrets as k)) as uuid,
  j.full_name as job,
  t.room,
  case when l.started_at is null then 'claimed' else 'running' end as status,
  t.created_at,
  l.started_at,
  null::timestamptz as ended_at,
  l.worker_id,
  null::text as error,
  t.payload,
  null::jsonb as result,
  null::integer as queue_position,
  l.token,
  t.trace_context
from pgjobs.leases as l
join pgjobs.tasks as t on t.id = l.task_id
join pgjobs.jobs as j on j.id = t.job_id;

comment on view pgjobs.claim_answer is
  'What HTTP shows of a claimed task. Example: select * from pgjobs.claim_and_show(''<worker id>'')';
comment on column pgjobs.claim_answer.id is 'Internal number.';
comment on column pgjobs.claim_answer.uuid is 'Public id.';
comment on column pgjobs.claim_answer.job is 'Address of its job.';
comment on column pgjobs.claim_answer.room is 'Where it was submitted from.';
comment on column pgjobs.claim_answer.status is 'pending, claimed, running, completed, failed or cancelled.';
comment on column pgjobs.claim_answer.created_at is 'When it was submitted.';
comment on column pgjobs.claim_answer.started_at is 'When its last attempt began to run.';
comment on column pgjobs.claim_answer.ended_at is 'When it ended.';
comment on column pgjobs.claim_answer.worker_id is 'The worker that holds or ended it.';
comment on column pgjobs.claim_answer.error is 'What it failed with, or why it was cancelled.';
comment on column pgjobs.claim_answer.payload is 'What to run it with.';
comment on column pgjobs.claim_answer.result is 'Its result.';
comment on column pgjobs.claim_answer.queue_position is 'Its place among the pending tasks of its job.';
comment on column pgjobs.claim_answer.token is 'The lease, for acknowledgements.';
comment on column pgjobs.claim_answer.trace_context is 'W3C traceparent of its submit, and tracestate after a space.';

create view pgjobs.installed as
select m.number, m.name, m.checksum, c.checksum as code_checksum, c.grants_checksum, c.version
from pgjobs.migrations as m
left join pgjobs.installed_code as c on c.is_only;

comment on view pgjobs.installed is
  'Installed migrations and code. Example: select max(number) from pgjobs.installed';
comment on column pgjobs.installed.number is 'Order of application.';
comment on column pgjobs.installed.name is 'The file it came from.';
comment on column pgjobs.installed.checksum is 'SHA-256 of the file; an applied file never changes.';
comment on column pgjobs.installed.code_checksum is 'SHA-256 over all files of code.';
comment on column pgjobs.installed.grants_checksum is 'SHA-256 of the grants; null where roles are managed elsewhere.';
comment on column pgjobs.installed.version is 'The release that the code came with.';
