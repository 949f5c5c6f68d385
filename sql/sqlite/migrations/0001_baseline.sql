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
  show_secrets integer not null default 0,
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
  max_running integer,
  events text not null default 'failures',
  retain_completed integer,
  retain_failed integer,
  created_at integer not null,
  paused_at integer,
  archived_at integer,
  deleted_at integer,
  keep integer not null default 0,
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
  constraint limits_are_possible check (max_running between 1 and 1000000),
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
  updated_at integer,
  submitter text,
  owner text,
  project text,
  tags text,
  idempotency_key text,
  trace_context text,
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
  connection_id text,
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
  t.priority, t.attempt, t.max_attempts, t.created_at, t.due_at, t.claimed_at, t.started_at, t.ended_at,
  t.until, t.worker_id, t.holder, t.error, t.error_kind, t.progress, t.cancel_requested_at, t.reason,
  t.submitter, t.owner, t.project, t.tags, t.idempotency_key,
  t.job_id
from tasks as t
join jobs as j on j.id = t.job_id;

create view task_document as
select v.*, iif((select c.show_secrets from settings as c), t.payload, redact_document(t.payload)) as payload, t.result
from task as v
join tasks as t on t.id = v.id;

-- Tasks in the words of the generic job manager. Without outer joins, so that
-- asking for some does not read all of it.
create view generic_jobs as
select
  t.id,
  task_uuid(t.id, (select s.task_key from secrets as s)) as uuid,
  j.room as domain,
  j.category as queue,
  j.name as job_type,
  t.owner as owner_user_id,
  iif(matches(t.project, '-?[0-9]{1,18}'), cast(t.project as integer), null) as project_id,
  t.idempotency_key,
  iif((select c.show_secrets from settings as c), t.payload, redact_document(t.payload)) as payload,
  t.result,
  case t.status
    when 'pending' then 'queued'
    when 'claimed' then 'processing'
    when 'running' then 'processing'
    when 'ignored' then 'cancelled'
    else t.status
  end as status,
  t.priority,
  t.max_attempts - 1 as max_retries,
  -- An attempt that holds or held the lease is no retry yet; one cancelled in line held none.
  t.attempt - (t.token is not null and t.status not in ('pending', 'ignored')) as retry_count,
  t.due_at as available_at,
  t.until as leased_until,
  t.token as lease_id,
  coalesce(t.holder, t.worker_id) as worker_id,
  t.claimed_at as acquired_at,
  coalesce(t.error, (select e.error from attempts as e where e.task_id = t.id order by e.id desc limit 1)) as error_message,
  coalesce(t.error, (select e.error from attempts as e where e.task_id = t.id order by e.id desc limit 1)) as last_error,
  t.cancel_requested_at,
  case t.status when 'cancelled' then t.ended_at when 'ignored' then t.updated_at end as cancelled_at,
  t.reason as cancellation_reason,
  t.created_at,
  max(
    t.created_at, coalesce(t.claimed_at, 0), coalesce(t.started_at, 0), coalesce(t.cancel_requested_at, 0),
    coalesce(t.updated_at, 0), coalesce(t.ended_at, 0),
    coalesce((select e.ended_at from attempts as e where e.task_id = t.id order by e.id desc limit 1), 0)
  ) as updated_at,
  iif(t.status = 'completed', t.ended_at, null) as completed_at
from tasks as t
join jobs as j on j.id = t.job_id;

create view job as
select
  j.id, j.uuid, j.full_name, j.room, j.category, j.name, j.schema, j.max_attempts, j.backoff_base,
  j.backoff_cap, j.jitter_share, j.jitter_cap, j.max_age, j.max_running, j.events, j.retain_completed,
  j.retain_failed, j.created_at, j.paused_at, j.archived_at, j.deleted_at, j.keep,
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
  id, job_id, room, priority, max_attempts, created_at, submitter, owner, project, tags, idempotency_key, payload,
  trace_context
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

create trigger opened_jobs_wake after update of paused_at, archived_at, max_running on jobs
when exists (select 1 from waiting) and (
  (old.paused_at is not null and new.paused_at is null)
  or (old.archived_at is not null and new.archived_at is null)
  or old.max_running is not new.max_running
) begin
  insert into notifications (at, channel, payload)
  select now(), 'wake', w.id from waiting as w
  where exists (select 1 from json_each(w.job_ids) as j where j.value = new.id);
  delete from waiting
  where exists (select 1 from json_each(waiting.job_ids) as j where j.value = new.id);
end;

create trigger freed_slots_wake after update of status on tasks
when old.status in ('claimed', 'running') and new.status not in ('claimed', 'running')
  and exists (select 1 from waiting)
  and exists (select 1 from jobs as j where j.id = new.job_id and j.max_running is not null)
begin
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

-- Providers answer questions on demand; reads keep their answers for a while.
-- API tokens let programs in.

create table providers (
  id text primary key,
  room text not null,
  category text not null,
  name text not null,
  full_name text not null generated always as (room || ':' || category || ':' || name) stored unique,
  schema text not null default '{}',
  content_type text not null default 'application/json',
  owner text,
  worker_id text not null references workers on delete cascade,
  created_at integer not null,
  constraint providers_have_one_address unique (room, category, name),
  constraint providers_are_not_internal check (room <> '@internal'),
  constraint rooms_are_well_formed check (
    room in ('@global', '@internal')
    or (room <> '' and instr(room, '@') = 0 and instr(room, ':') = 0 and length(room) <= 200)
  ),
  constraint categories_are_well_formed check (
    category <> '' and instr(category, ':') = 0 and length(category) <= 200
  ),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200)
) strict;
create index providers_of_a_worker on providers (worker_id);

create table reads (
  key text primary key,
  data blob not null,
  expires_at integer not null,
  constraint read_keys_are_short check (length(key) <= 1000)
) strict, without rowid;
create index reads_in_time on reads (expires_at);

create table reads_in_flight (
  key text primary key,
  expires_at integer not null,
  constraint read_keys_are_short check (length(key) <= 1000)
) strict, without rowid;
create index reads_in_flight_in_time on reads_in_flight (expires_at);

create table api_tokens (
  id text primary key,
  token_hash text not null unique,
  user_id text not null,
  name text,
  is_superuser integer not null default 0,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  constraint tokens_name_their_user check (user_id <> '' and length(user_id) <= 200),
  constraint names_are_short check (length(name) <= 200)
) strict;

-- What HTTP shows of a task. An ignored task has not ended, so it shows as pending.
create view task_answer as
select
  v.id, v.uuid, v.job, v.room,
  iif(v.status = 'ignored', 'pending', v.status) as status,
  v.created_at, v.started_at, v.ended_at, v.worker_id,
  coalesce(v.error, iif(v.status = 'cancelled', v.reason, null)) as error,
  v.payload,
  v.result,
  case when v.status = 'pending' then min(1000, 1 + (
    select count(*)
    from (
      select 1
      from tasks as o
      where o.job_id = v.job_id and o.is_ready
        and (not t.is_ready or (o.priority, o.due_at, o.id) < (t.priority, t.due_at, t.id))
      limit 1000
    )
  ) + (
    select count(*)
    from (
      select 1
      from tasks as o
      where o.status = 'pending' and not o.is_ready and o.job_id = v.job_id
        and not t.is_ready and (o.due_at, o.id) < (t.due_at, t.id)
      limit 1000
    )
  )) end as queue_position
from task_document as v
join tasks as t on t.id = v.id;

-- Providers that came and went.
create trigger provider_came after insert on providers begin
  insert into events (at, kind, room, worker_id, fields)
  values (
    now(), 'provider_registered', new.room, new.worker_id,
    json_object('provider_id', new.id, 'provider_name', new.full_name)
  );
end;
create trigger provider_changed after update on providers begin
  insert into events (at, kind, room, worker_id, fields)
  values (
    now(), 'provider_registered', new.room, new.worker_id,
    json_object('provider_id', new.id, 'provider_name', new.full_name)
  );
end;
create trigger provider_went after delete on providers begin
  insert into events (at, kind, room, worker_id, fields)
  values (
    now(), 'provider_retired', old.room, old.worker_id,
    json_object('provider_id', old.id, 'provider_name', old.full_name)
  );
end;

-- What ended in all time, for metrics. With a single writer, counting as it happens makes nobody wait.
create table totals (
  job_id integer not null,
  measure text not null,
  bucket integer not null,
  quantity integer not null,
  seconds real not null,
  primary key (job_id, measure, bucket),
  constraint measures_are_known check (
    measure in ('completed', 'failed', 'cancelled', 'retried', 'duration', 'latency')
  )
) strict, without rowid;

create table histogram_bounds (
  bucket integer primary key,
  up_to real not null
) strict;
insert into histogram_bounds (bucket, up_to)
values
(0, 0.01), (1, 0.05), (2, 0.1), (3, 0.5), (4, 1.0), (5, 2.5), (6, 5.0), (7, 10.0), (8, 30.0), (9, 60.0),
(10, 300.0), (11, 900.0), (12, 3600.0), (13, 9e999);

create trigger endings_are_counted after update of ended_at on tasks
when old.ended_at is null and new.ended_at is not null begin
  insert into totals (job_id, measure, bucket, quantity, seconds)
  select
    new.job_id, n.measure,
    iif(n.seconds is null, 0, (select min(b.bucket) from histogram_bounds as b where b.up_to >= n.seconds)),
    1, coalesce(n.seconds, 0.0)
  from (
    select new.status as measure, null as seconds
    union all
    select 'duration', (new.ended_at - new.claimed_at) / 1e6 where new.status = 'completed'
    union all
    select 'latency', (new.claimed_at - new.created_at) / 1e6 where new.claimed_at is not null
  ) as n
  where true
  on conflict (job_id, measure, bucket) do update
  set quantity = quantity + 1, seconds = seconds + excluded.seconds;
end;

-- What an operator undoes has ended before; what goes on is still under its lease.
create trigger retries_are_counted after insert on attempts
when (select t.status from tasks as t where t.id = new.task_id) in ('claimed', 'running') begin
  insert into totals (job_id, measure, bucket, quantity, seconds)
  select t.job_id, 'retried', 0, 1, 0.0
  from tasks as t
  where t.id = new.task_id
  on conflict (job_id, measure, bucket) do update
  set quantity = quantity + 1;
end;
