-- History in numbers. Endings are noted as they happen, one row per statement,
-- and counted into minutes by sweeps: nobody updates a shared counter while
-- acknowledging, and nobody counts history to draw a chart.

create table pgjobs.uncounted (
  job_id integer not null,
  measure text not null,
  at timestamptz not null,
  task_ids bigint[] not null,
  claimed_at timestamptz[]
);

comment on table pgjobs.uncounted is 'Endings and retries that no rollup counts yet.';
comment on column pgjobs.uncounted.job_id is 'The job.';
comment on column pgjobs.uncounted.measure is 'completed, failed, cancelled or retried.';
comment on column pgjobs.uncounted.at is 'When.';
comment on column pgjobs.uncounted.task_ids is 'The tasks of one statement.';
comment on column pgjobs.uncounted.claimed_at is 'When the last lease of each began, by position; empty for one cancelled in line.';

create table pgjobs.rollups (
  minute timestamptz not null,
  job_id integer not null,
  measure text not null,
  bucket smallint not null,
  quantity bigint not null,
  seconds double precision not null,
  primary key (minute, job_id, measure, bucket),
  constraint measures_are_known check (
    measure in ('completed', 'failed', 'cancelled', 'retried', 'duration', 'latency')
  )
) with (fillfactor = 70);

comment on table pgjobs.rollups is
  'How much ended in each minute, and how long it took. Example: select minute, sum(quantity) from pgjobs.rollups where measure = ''completed'' and minute > now() - interval ''1 hour'' group by minute';
comment on column pgjobs.rollups.minute is 'The minute; -infinity counts all time.';
comment on column pgjobs.rollups.job_id is 'The job.';
comment on column pgjobs.rollups.measure is
  'completed, failed, cancelled, retried; duration (claimed to completed) and latency (submitted to claimed).';
comment on column pgjobs.rollups.bucket is 'Of a duration or latency: place among pgjobs.histogram_bounds(), from 0; else 0.';
comment on column pgjobs.rollups.quantity is 'How many.';
comment on column pgjobs.rollups.seconds is 'Their durations or latencies together.';
