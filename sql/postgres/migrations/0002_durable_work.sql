-- Steps, signals, dependencies and workflows. A suspended or blocked task waits in
-- `scheduled`: three columns say what for, so nothing is added to claims.

alter table pgjobs.settings
add column max_steps integer not null default 10000,
add column max_step_bytes integer not null default 16777216;

alter table pgjobs.settings
add constraint steps_are_bounded check (
  max_steps between 1 and 1000000 and max_step_bytes between 1024 and 1073741824
) not valid;
alter table pgjobs.settings validate constraint steps_are_bounded;

comment on column pgjobs.settings.max_steps is 'How many steps a task may keep, and how many tasks a workflow may have.';
comment on column pgjobs.settings.max_step_bytes is 'How many bytes the results of a task''s steps may take together, as JSON text.';

alter table pgjobs.scheduled
add column waits_for text,
add column signal text,
add column blocked_by bigint;

comment on column pgjobs.scheduled.waits_for is
  'time, signal, calls, parents or held (a parent failed); empty: it waits for its next attempt, or was submitted for later.';
comment on column pgjobs.scheduled.signal is 'Name of the signal it waits for.';
comment on column pgjobs.scheduled.blocked_by is
  'One of the tasks it waits for; only when that one has ended are the others looked at.';

create table pgjobs.steps (
  task_id bigint not null,
  number integer not null,
  name text not null,
  kind text not null,
  result jsonb,
  is_done boolean not null,
  until timestamptz,
  total_bytes bigint not null,
  saved_at timestamptz not null,
  primary key (task_id, number),
  constraint steps_have_one_name_each unique (task_id, name),
  constraint step_kinds_are_known check (kind in ('step', 'sleep', 'signal', 'call')),
  constraint step_names_are_short check (name <> '' and length(name) <= 200)
);

comment on table pgjobs.steps is 'Named pieces of handlers whose results are kept with their tasks.';
comment on column pgjobs.steps.task_id is 'The task.';
comment on column pgjobs.steps.number is 'In order of saving, from 1.';
comment on column pgjobs.steps.name is 'What the handler calls it; once for each task.';
comment on column pgjobs.steps.kind is 'step, sleep, signal or call.';
comment on column pgjobs.steps.result is 'What it gave.';
comment on column pgjobs.steps.is_done is 'False while the task waits in it.';
comment on column pgjobs.steps.until is 'When the wait ends; empty: it has no end of its own.';
comment on column pgjobs.steps.total_bytes is 'Bytes of the results of the task''s steps up to this one.';
comment on column pgjobs.steps.saved_at is 'When it was saved.';

create table pgjobs.kept_progress (
  task_id bigint primary key,
  progress jsonb not null
);

comment on table pgjobs.kept_progress is 'What the last attempt of a task reported, kept when the attempt ended without an outcome.';
comment on column pgjobs.kept_progress.task_id is 'The task.';
comment on column pgjobs.kept_progress.progress is 'What was reported.';

create table pgjobs.signals (
  task_id bigint not null,
  name text not null,
  payload jsonb not null,
  sent_at timestamptz not null,
  sender text,
  primary key (task_id, name),
  constraint signal_names_are_short check (name <> '' and length(name) <= 200)
);

comment on table pgjobs.signals is 'Named facts sent to tasks; the first of a name counts.';
comment on column pgjobs.signals.task_id is 'The task.';
comment on column pgjobs.signals.name is 'What it is called.';
comment on column pgjobs.signals.payload is 'What it says.';
comment on column pgjobs.signals.sent_at is 'When.';
comment on column pgjobs.signals.sender is 'By whom.';

create table pgjobs.dependencies (
  task_id bigint not null,
  after_id bigint not null,
  kind text not null,
  name text not null,
  place integer not null,
  on_failure text not null,
  primary key (task_id, after_id),
  constraint dependency_kinds_are_known check (kind in ('parent', 'call')),
  constraint failures_have_a_rule check (on_failure in ('cancel', 'run', 'hold'))
);

comment on table pgjobs.dependencies is 'Which task waits for the end of which.';
comment on column pgjobs.dependencies.task_id is 'The task that waits.';
comment on column pgjobs.dependencies.after_id is 'The task it waits for.';
comment on column pgjobs.dependencies.kind is 'parent: it has to end before the task may start; call: the running task submitted it and waits for its result.';
comment on column pgjobs.dependencies.name is 'What the task calls it: its name in the workflow, else its number; of a call the step.';
comment on column pgjobs.dependencies.place is 'Order among the tasks it waits for.';
comment on column pgjobs.dependencies.on_failure is 'If it does not complete: cancel the task, run it all the same, or hold it.';

-- Written by acknowledgements and read by claims, so nothing but an insert is done here.
create table pgjobs.settled (
  id bigint generated always as identity primary key,
  after_id bigint not null
);

comment on table pgjobs.settled is 'Tasks that have ended and that others wait for; whoever claims next releases those.';
comment on column pgjobs.settled.id is 'In order of ending.';
comment on column pgjobs.settled.after_id is 'The task that has ended.';

create table pgjobs.rechecks (
  id bigint generated always as identity primary key,
  task_ids bigint[] not null,
  stamp xid8
);

comment on table pgjobs.rechecks is
  'Blocked tasks whose parent may be ending in a transaction that cannot see them; looked at again once all such transactions are over.';
comment on column pgjobs.rechecks.id is 'In order of writing.';
comment on column pgjobs.rechecks.task_ids is 'The blocked tasks.';
comment on column pgjobs.rechecks.stamp is 'The transaction that first saw this note; the note may go when all older ones are over.';

create table pgjobs.workflows (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid(),
  name text not null,
  room text not null,
  created_at timestamptz not null,
  submitter text,
  constraint workflow_uuids_are_unique unique (uuid),
  constraint workflow_names_are_short check (name <> '' and length(name) <= 200)
);

comment on table pgjobs.workflows is 'Tasks submitted together, under a name.';
comment on column pgjobs.workflows.id is 'Internal number.';
comment on column pgjobs.workflows.uuid is 'Public id.';
comment on column pgjobs.workflows.name is 'What people call it; many may have one name.';
comment on column pgjobs.workflows.room is 'Where it was submitted from.';
comment on column pgjobs.workflows.created_at is 'When it was submitted.';
comment on column pgjobs.workflows.submitter is 'Who submitted it.';

create table pgjobs.workflow_tasks (
  workflow_id bigint not null,
  task_id bigint not null,
  name text not null,
  primary key (workflow_id, task_id),
  constraint workflow_tasks_have_one_workflow unique (task_id),
  constraint workflow_task_names_are_short check (name <> '' and length(name) <= 200)
);

comment on table pgjobs.workflow_tasks is 'Which tasks belong to a workflow.';
comment on column pgjobs.workflow_tasks.workflow_id is 'The workflow.';
comment on column pgjobs.workflow_tasks.task_id is 'The task.';
comment on column pgjobs.workflow_tasks.name is 'What the workflow calls it.';

-- A sequence: reading it costs the same always, and whoever reads an old snapshot sees it too.
create sequence pgjobs.dependencies_used minvalue 0 start 0;
comment on sequence pgjobs.dependencies_used is
  '1 once a task has waited for another here; until then acknowledgements and claims look for no such tasks.';
