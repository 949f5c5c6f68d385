-- What handlers write with `task.log`. Lines are numbered within an attempt, and lines that
-- were left out are counted too: a gap in the numbers shows how many are missing.

alter table pgjobs.settings
add column max_log_lines integer not null default 1000,
add column max_log_bytes integer not null default 262144;

alter table pgjobs.settings
add constraint logs_are_bounded check (
  max_log_lines between 0 and 100000 and max_log_bytes between 0 and 67108864
) not valid;
alter table pgjobs.settings validate constraint logs_are_bounded;

comment on column pgjobs.settings.max_log_lines is
  'How many log lines of an attempt are kept, the newest; 0 keeps none.';
comment on column pgjobs.settings.max_log_bytes is
  'How many bytes the kept log lines of an attempt may take.';

create table pgjobs.task_log (
  task_id bigint not null,
  attempt integer not null,
  number integer not null,
  at timestamptz not null,
  level text not null,
  message text not null,
  total_bytes bigint not null,
  primary key (task_id, attempt, number),
  constraint log_levels_are_known check (level in ('debug', 'info', 'warning', 'error', 'critical'))
);

comment on table pgjobs.task_log is 'Log lines of attempts; the newest of each attempt are kept.';
comment on column pgjobs.task_log.task_id is 'The task.';
comment on column pgjobs.task_log.attempt is 'The attempt that wrote it.';
comment on column pgjobs.task_log.number is 'In order of writing, from 1; a missing number is a line that was not kept.';
comment on column pgjobs.task_log.at is 'When it was written.';
comment on column pgjobs.task_log.level is 'debug, info, warning, error or critical.';
comment on column pgjobs.task_log.message is 'What it says, cut after 4,000 characters, without credentials.';
comment on column pgjobs.task_log.total_bytes is 'Bytes of all lines of the attempt up to this one.';
