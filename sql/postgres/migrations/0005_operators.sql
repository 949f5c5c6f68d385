-- What operators look at: errors counted by fingerprint. The marks of idle
-- workers make room for the view of what waits.

alter table pgjobs.waiting rename to waiting_marks;

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
