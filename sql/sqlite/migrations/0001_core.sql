-- The tables of the queue. SQLite has one writer, so a task is one row from
-- submission to retention, with its status in a column. Times are microseconds
-- since 1970 in UTC, durations are microseconds, uuids are text, arrays and
-- documents are JSON text.

create table settings (
  is_only integer primary key default 1,
  worker_timeout integer not null default 60000000,
  internal_timeout integer not null default 3600000000,
  max_lease integer not null default 3600000000,
  aging integer not null default 86400000000,
  payload_limit integer not null default 1048576,
  retain_completed integer not null default 2592000000000,
  retain_failed integer not null default 5184000000000,
  retain_events integer not null default 604800000000,
  max_outages integer not null default 100,
  constraint settings_are_one_row check (is_only = 1),
  constraint durations_are_positive check (
    worker_timeout > 0 and internal_timeout > 0 and max_lease > 0 and aging >= 0
  ),
  constraint retention_is_not_negative check (
    retain_completed >= 0 and retain_failed >= 0 and retain_events >= 0
  ),
  constraint payload_limit_is_sane check (payload_limit between 1024 and 67108864),
  constraint outages_are_counted check (max_outages between 0 and 10000)
) strict;
insert into settings default values;

-- Makes public task uuids unguessable; changing the key makes issued ones invalid.
create table secrets (
  is_only integer primary key default 1,
  task_key blob not null default (randomblob(32)),
  constraint secrets_are_one_row check (is_only = 1)
) strict;
insert into secrets default values;

create table jobs (
  id integer primary key autoincrement,
  uuid text not null unique,
  room text not null,
  category text not null,
  name text not null,
  full_name text not null generated always as (room || ':' || category || ':' || name) stored unique,
  schema text not null default '{}',
  max_attempts integer not null default 1,
  backoff_base integer not null default 1000000,
  backoff_cap integer not null default 3600000000,
  jitter_share real not null default 0.25,
  jitter_cap integer,
  max_age integer,
  events text not null default 'failures',
  retain_completed integer,
  retain_failed integer,
  created_at integer not null,
  paused_at integer,
  archived_at integer,
  deleted_at integer,
  constraint jobs_have_one_address unique (room, category, name),
  constraint rooms_are_well_formed check (
    room in ('@global', '@internal')
    or (room <> '' and instr(room, '@') = 0 and instr(room, ':') = 0 and length(room) <= 200)
  ),
  constraint categories_are_well_formed check (
    category <> '' and instr(category, ':') = 0 and length(category) <= 200
  ),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200),
  constraint attempts_are_possible check (max_attempts between 1 and 10000),
  constraint backoff_grows check (backoff_base >= 0 and backoff_cap >= backoff_base),
  constraint jitter_is_a_share check (jitter_share between 0 and 1 and jitter_cap >= 0),
  constraint ages_are_not_negative check (max_age > 0 and retain_completed >= 0 and retain_failed >= 0),
  constraint events_are_known check (events in ('failures', 'full'))
) strict;

create table error_policies (
  job_id integer not null references jobs on delete cascade,
  kind text not null,
  is_retryable integer not null,
  backoff_base integer not null,
  backoff_cap integer not null,
  jitter_share real not null,
  jitter_cap integer,
  primary key (job_id, kind),
  constraint kinds_are_named check (kind <> '' and length(kind) <= 200),
  constraint backoff_grows check (backoff_base >= 0 and backoff_cap >= backoff_base),
  constraint jitter_is_a_share check (jitter_share between 0 and 1 and jitter_cap >= 0)
) strict, without rowid;

-- Which priorities a job has ever used, so that claims probe no others.
create table lanes (
  job_id integer not null,
  priority integer not null,
  primary key (job_id, priority)
) strict, without rowid;

-- A pending task that is ready stands in its lane, in order of `due_at`; one that
-- is not waits for that time. Documents come last, so that looking at a task's
-- status does not read through them.
create table tasks (
  id integer primary key autoincrement,
  job_id integer not null references jobs,
  room text not null,
  priority integer not null,
  max_attempts integer not null,
  created_at integer not null,
  status text not null default 'pending',
  is_ready integer not null default 0,
  due_at integer,
  attempt integer not null default 0,
  token text,
  worker_id text,
  holder text,
  claimed_at integer,
  until integer,
  started_at integer,
  cancel_requested_at integer,
  ended_at integer,
  submitter text,
  owner text,
  project text,
  tags text,
  idempotency_key text,
  error_kind text,
  reason text,
  actor text,
  error text,
  progress text,
  payload text not null,
  result text,
  constraint statuses_are_known check (
    status in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored')
  ),
  constraint priorities_are_known check (priority between 1 and 10),
  constraint attempts_are_possible check (max_attempts between 1 and 10000 and attempt between 0 and max_attempts),
  constraint keys_are_short check (idempotency_key <> '' and length(idempotency_key) <= 200),
  constraint only_pending_tasks_wait check (
    (status = 'pending') = (due_at is not null) and is_ready in (0, 1) and (not is_ready or status = 'pending')
  ),
  constraint leases_can_end check (
    status not in ('claimed', 'running')
    or (claimed_at is not null and token is not null and attempt >= 1 and (until is not null or worker_id is not null))
  ),
  constraint leases_have_a_holder check (
    status not in ('claimed', 'running') or worker_id is not null or holder is not null
  ),
  constraint running_tasks_have_started check (
    (status <> 'running' or started_at is not null) and (status <> 'claimed' or started_at is null)
  ),
  constraint only_leases_are_worked_on check (
    status in ('claimed', 'running') or (until is null and progress is null and cancel_requested_at is null)
  ),
  constraint endings_have_a_time check (
    (status in ('completed', 'failed', 'cancelled')) = (ended_at is not null)
  ),
  constraint failures_name_their_error check (
    case status when 'pending' then not is_ready or error is null else (status = 'failed') = (error is not null) end
  ),
  constraint only_completed_tasks_have_results check (status = 'completed' or result is null),
  constraint endings_by_workers_carry_the_token check (status not in ('completed', 'failed') or token is not null)
) strict;
create unique index tasks_by_key on tasks (job_id, idempotency_key) where idempotency_key is not null;
create index tasks_of_a_room on tasks (room, id);
create index tasks_ready on tasks (job_id, priority, due_at, id) where is_ready;
create index tasks_scheduled on tasks (due_at, id) where status = 'pending' and not is_ready;
create index tasks_leased on tasks (worker_id) where status in ('claimed', 'running');
create index tasks_ended on tasks (ended_at) where ended_at is not null;
create index tasks_failed on tasks (id) where status = 'failed';

-- Attempts that did not settle their task: failed and retried, or undone by an operator.
create table attempts (
  id integer primary key autoincrement,
  task_id integer not null,
  attempt integer not null,
  status text not null,
  token text,
  worker_id text,
  holder text,
  claimed_at integer,
  started_at integer,
  ended_at integer not null,
  error text,
  error_kind text,
  reason text,
  constraint statuses_are_known check (status in ('failed', 'cancelled'))
) strict;
create index attempts_of_a_task on attempts (task_id, id);

create table workers (
  id text primary key,
  name text,
  owner text,
  registered_at integer not null,
  last_heartbeat_at integer not null,
  constraint names_are_short check (length(name) <= 200)
) strict;

create table worker_jobs (
  worker_id text not null references workers on delete cascade,
  job_id integer not null references jobs on delete cascade,
  primary key (worker_id, job_id)
) strict, without rowid;
create index workers_of_a_job on worker_jobs (job_id);

create table events (
  id integer primary key autoincrement,
  at integer not null,
  kind text not null,
  task_id integer,
  job_id integer,
  room text,
  status text,
  worker_id text,
  actor text,
  message text,
  fields text
) strict;
create index events_of_a_task on events (task_id, id) where task_id is not null;

-- Idle workers to be woken; whoever wakes one takes its mark.
create table waiting (
  id integer primary key autoincrement,
  job_ids text not null,
  since integer not null
) strict;

-- Tasks somebody waits for.
create table watched (
  task_id integer primary key,
  since integer not null
) strict;

-- What listeners in every process are to be told; kept for a minute.
create table notifications (
  id integer primary key autoincrement,
  at integer not null,
  channel text not null,
  payload text not null
) strict;

create view task as
select
  t.id,
  task_uuid(t.id, (select s.task_key from secrets as s)) as uuid,
  j.full_name as job,
  t.room,
  t.status,
  case
    when t.until <= now() then 'overdue'
    when t.status <> 'pending' then null
    when t.error is not null and t.error_kind in ('auth', 'config') then 'blocked'
    when t.error is not null then 'retrying'
    when not t.is_ready and t.due_at > now() then 'scheduled'
    else 'due'
  end as phase,
  t.priority,
  t.attempt,
  t.max_attempts,
  t.created_at,
  t.due_at,
  t.claimed_at,
  t.started_at,
  t.ended_at,
  t.until,
  t.worker_id,
  t.holder,
  t.error,
  t.error_kind,
  t.progress,
  t.cancel_requested_at,
  t.reason,
  t.submitter,
  t.owner,
  t.project,
  t.tags,
  t.idempotency_key,
  t.job_id
from tasks as t
join jobs as j on j.id = t.job_id;

create view task_document as
select v.*, t.payload, t.result
from task as v
join tasks as t on t.id = v.id;

create view job as
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
  j.events,
  j.retain_completed,
  j.retain_failed,
  j.created_at,
  j.paused_at,
  j.archived_at,
  j.deleted_at,
  (
    select json_group_array(w.worker_id)
    from (select l.worker_id from worker_jobs as l where l.job_id = j.id order by l.worker_id) as w
  ) as workers
from jobs as j;

-- Guards. Rows change through verbs only. A connection that is not the driver's
-- has no such function, and is refused for that.
create trigger only_verbs_submit before insert on tasks
when not is_verb_running() begin
  select raise(abort, 'Tasks are changed by verbs only');
end;
create trigger only_verbs_change_tasks before update on tasks
when not is_verb_running() begin
  select raise(abort, 'Tasks are changed by verbs only');
end;
create trigger only_verbs_prune before delete on tasks
when not is_verb_running() begin
  select raise(abort, 'Tasks are changed by verbs only');
end;
create trigger only_verbs_write_history before insert on attempts
when not is_verb_running() begin
  select raise(abort, 'Attempts are changed by verbs only');
end;
create trigger only_verbs_remove_history before delete on attempts
when not is_verb_running() begin
  select raise(abort, 'Attempts are changed by verbs only');
end;
create trigger only_verbs_write_events before insert on events
when not is_verb_running() begin
  select raise(abort, 'Events are changed by verbs only');
end;
create trigger only_verbs_remove_events before delete on events
when not is_verb_running() begin
  select raise(abort, 'Events are changed by verbs only');
end;

-- What is written once stays as it is, whoever asks.
create trigger history_never_changes before update on attempts begin
  select raise(abort, 'Attempts never change');
end;
create trigger events_never_change before update on events begin
  select raise(abort, 'Events never change');
end;
create trigger bodies_never_change before update of
  id, job_id, room, priority, max_attempts, created_at, submitter, owner, project, tags, idempotency_key, payload
on tasks begin
  select raise(abort, 'What a task was submitted with never changes');
end;

create trigger steps_are_legal before update of status on tasks
when not (
  new.status = old.status
  or (old.status = 'pending' and new.status in ('claimed', 'running', 'cancelled', 'ignored'))
  or (old.status = 'claimed' and new.status in ('running', 'pending', 'completed', 'failed', 'cancelled'))
  or (old.status = 'running' and new.status in ('pending', 'completed', 'failed', 'cancelled'))
  or (old.status = 'failed' and new.status in ('pending', 'ignored'))
  or (old.status in ('cancelled', 'ignored') and new.status = 'pending')
) begin
  select raise(abort, 'The task''s status does not allow this step');
end;

-- An outcome leaves its task only for the attempt history.
create trigger outcomes_never_change before update on tasks
when old.ended_at is not null and (
  new.ended_at is not null
  or not exists (
    select 1 from attempts as a
    where a.task_id = old.id and a.ended_at = old.ended_at and a.status = old.status and a.token is old.token
  )
) begin
  select raise(abort, 'An outcome never changes');
end;

-- A lease keeps its token, attempt and holder, is never shortened and starts
-- once; ending it keeps them too.
create trigger leases_keep_their_token before update on tasks
when old.status in ('claimed', 'running') and new.status <> 'pending' and (
  new.token is not old.token
  or new.attempt <> old.attempt
  or new.claimed_at is not old.claimed_at
  or new.worker_id is not old.worker_id
  or new.holder is not old.holder
  or (new.ended_at is null and ((new.until is null) <> (old.until is null) or new.until < old.until))
  or (old.started_at is not null and new.started_at is not old.started_at)
) begin
  select raise(abort, 'A lease keeps its token, its holder and its time');
end;

-- Announcements. Failures and cancellations are always recorded, the rest for
-- jobs that ask for full events.
create trigger submitted after insert on tasks begin
  insert into events (at, kind, task_id, job_id, room, status)
  select new.created_at, 'submitted', new.id, new.job_id, new.room, 'pending'
  from jobs as j
  where j.id = new.job_id and j.events = 'full';
end;

create trigger returned after update of is_ready on tasks
when new.is_ready and not old.is_ready begin
  insert into events (at, kind, task_id, job_id, room, status)
  select
    now(), case when new.due_at = new.created_at then 'released' else 'due' end,
    new.id, new.job_id, new.room, 'pending'
  from jobs as j
  where j.id = new.job_id and j.events = 'full' and new.due_at >= new.created_at;
end;

create trigger backing_off after update of status on tasks
when new.status = 'pending' and old.status <> 'pending' and new.error is not null begin
  insert into events (at, kind, task_id, job_id, room, status, message, fields)
  values (
    now(), 'retrying', new.id, new.job_id, new.room, 'pending', substr(new.error, 1, 500),
    json_object('attempt', new.attempt, 'run_at', iso_time(new.due_at), 'error_kind', new.error_kind)
  );
end;

create trigger claimed after update of status on tasks
when new.status in ('claimed', 'running') and new.status <> old.status begin
  insert into events (at, kind, task_id, job_id, room, status, worker_id)
  select
    coalesce(new.started_at, new.claimed_at), case new.status when 'running' then 'started' else 'claimed' end,
    new.id, new.job_id, new.room, new.status, new.worker_id
  from jobs as j
  where j.id = new.job_id and j.events = 'full';
end;

create trigger ended after update of status on tasks
when new.ended_at is not null begin
  insert into events (at, kind, task_id, job_id, room, status, worker_id, actor, message)
  select
    new.ended_at, new.status, new.id, new.job_id, new.room, new.status, new.worker_id, new.actor,
    substr(coalesce(new.error, new.reason), 1, 500)
  from jobs as j
  where j.id = new.job_id and (j.events = 'full' or new.status <> 'completed');
  insert into notifications (at, channel, payload)
  select now(), 'ended', w.task_id from watched as w where w.task_id = new.id;
  delete from watched where task_id = new.id;
end;

-- The registry: who came and who went.
create trigger job_came after insert on jobs begin
  insert into events (at, kind, job_id, room) values (now(), 'job_registered', new.id, new.room);
end;

create trigger job_came_or_went after update of deleted_at on jobs
when (old.deleted_at is null) <> (new.deleted_at is null) begin
  insert into events (at, kind, job_id, room)
  values (now(), case when new.deleted_at is null then 'job_registered' else 'job_orphaned' end, new.id, new.room);
end;

create trigger worker_joined after insert on worker_jobs begin
  insert into events (at, kind, job_id, room, worker_id)
  select now(), 'worker_joined', j.id, j.room, new.worker_id from jobs as j where j.id = new.job_id;
end;

create trigger worker_left after delete on worker_jobs begin
  insert into events (at, kind, job_id, room, worker_id)
  select now(), 'worker_left', j.id, j.room, old.worker_id from jobs as j where j.id = old.job_id;
end;

-- Each task that comes into line wakes the worker that waits for its job longest.
create trigger submitted_tasks_wake after insert on tasks
when new.is_ready and exists (select 1 from waiting) begin
  insert into notifications (at, channel, payload)
  select now(), 'wake', w.id from waiting as w
  where exists (select 1 from json_each(w.job_ids) as j where j.value = new.job_id)
  order by w.id
  limit 1;
  delete from waiting where id = (
    select min(w.id) from waiting as w
    where exists (select 1 from json_each(w.job_ids) as j where j.value = new.job_id)
  );
end;

create trigger returned_tasks_wake after update of is_ready on tasks
when new.is_ready and not old.is_ready and exists (select 1 from waiting) begin
  insert into notifications (at, channel, payload)
  select now(), 'wake', w.id from waiting as w
  where exists (select 1 from json_each(w.job_ids) as j where j.value = new.job_id)
  order by w.id
  limit 1;
  delete from waiting where id = (
    select min(w.id) from waiting as w
    where exists (select 1 from json_each(w.job_ids) as j where j.value = new.job_id)
  );
end;

create trigger opened_jobs_wake after update of paused_at, archived_at on jobs
when (old.paused_at is not null and new.paused_at is null)
  or (old.archived_at is not null and new.archived_at is null)
begin
  insert into notifications (at, channel, payload)
  select now(), 'wake', w.id from waiting as w
  where exists (select 1 from json_each(w.job_ids) as j where j.value = new.id);
  delete from waiting
  where exists (select 1 from json_each(waiting.job_ids) as j where j.value = new.id);
end;
