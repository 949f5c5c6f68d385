-- What runs leave behind: where a job's runs write, where each run did, and which
-- clean-up task looks after it. The clean-up tasks are ordinary tasks of an
-- @internal job.

alter table pgjobs.settings
add column cleanup_after interval not null default '7 days',
add constraint cleanup_is_not_in_the_future check (cleanup_after >= interval '0');

comment on column pgjobs.settings.cleanup_after is
  'A run that ended without completing is cleaned up when it ended longer ago than this; 0 cleans up nothing.';

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

-- Reconciling looks at the runs of few jobs, and only at those that did not complete.
create index outcomes_unfinished on pgjobs.outcomes (job_id, ended_at) where status <> 'completed';
