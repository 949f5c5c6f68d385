-- A minute of a job is one row, and so is a minute of all jobs together: an hour of a
-- hundred jobs was fifty thousand rows, one for each measure and bucket, and a day of
-- them more than anybody waits for.

alter table pgjobs.rollups rename to narrow_rollups;
alter table pgjobs.narrow_rollups rename constraint rollups_pkey to narrow_rollups_pkey;

create table pgjobs.rollups (
  job_id integer not null,
  minute timestamptz not null,
  completed bigint not null,
  failed bigint not null,
  cancelled bigint not null,
  retried bigint not null,
  waits bigint[] not null,
  wait_seconds double precision not null,
  runs bigint[] not null,
  run_seconds double precision not null,
  primary key (job_id, minute),
  constraint all_buckets_are_there check (cardinality(waits) = 14 and cardinality(runs) = 14)
) with (fillfactor = 70);

comment on table pgjobs.rollups is
  'How much ended in each minute, and how long it took. Example: select minute, completed from pgjobs.rollups where job_id = 0 and minute > now() - interval ''1 hour''';
comment on column pgjobs.rollups.job_id is 'The job; 0 for all jobs together.';
comment on column pgjobs.rollups.minute is 'The minute; -infinity counts all time of a job.';
comment on column pgjobs.rollups.completed is 'Tasks completed.';
comment on column pgjobs.rollups.failed is 'Tasks failed for good.';
comment on column pgjobs.rollups.cancelled is 'Tasks cancelled.';
comment on column pgjobs.rollups.retried is 'Failed attempts that are followed by another.';
comment on column pgjobs.rollups.waits is
  'How many waited how long from submission to claim: a count for each of pgjobs.histogram_bounds(), and one beyond.';
comment on column pgjobs.rollups.wait_seconds is 'How long they waited together.';
comment on column pgjobs.rollups.runs is 'The same of how long those completed took from their claim.';
comment on column pgjobs.rollups.run_seconds is 'How long they took together.';

insert into pgjobs.rollups
select
  coalesce(s.job_id, 0),
  s.minute,
  coalesce(sum(s.quantity) filter (where s.measure = 'completed'), 0),
  coalesce(sum(s.quantity) filter (where s.measure = 'failed'), 0),
  coalesce(sum(s.quantity) filter (where s.measure = 'cancelled'), 0),
  coalesce(sum(s.quantity) filter (where s.measure = 'retried'), 0),
  (select array_agg(coalesce((
    select w.quantity
    from unnest(array_agg(s.bucket) filter (where s.measure = 'latency'), array_agg(s.quantity) filter (where s.measure = 'latency'))
      as w (bucket, quantity)
    where w.bucket = b.bucket
  ), 0) order by b.bucket) from generate_series(0, 13) as b (bucket)),
  coalesce(sum(s.seconds) filter (where s.measure = 'latency'), 0),
  (select array_agg(coalesce((
    select w.quantity
    from unnest(array_agg(s.bucket) filter (where s.measure = 'duration'), array_agg(s.quantity) filter (where s.measure = 'duration'))
      as w (bucket, quantity)
    where w.bucket = b.bucket
  ), 0) order by b.bucket) from generate_series(0, 13) as b (bucket)),
  coalesce(sum(s.seconds) filter (where s.measure = 'duration'), 0)
from (
  select n.job_id, n.minute, n.measure, n.bucket, sum(n.quantity)::bigint as quantity, sum(n.seconds) as seconds
  from pgjobs.narrow_rollups as n
  group by grouping sets ((n.job_id, n.minute, n.measure, n.bucket), (n.minute, n.measure, n.bucket))
  having n.job_id is not null or n.minute > '-infinity'
) as s
group by s.job_id, s.minute;

drop table pgjobs.narrow_rollups;
