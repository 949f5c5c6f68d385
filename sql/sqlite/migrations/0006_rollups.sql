-- History in numbers: what ended in each minute, and in all time (minute 0). With
-- a single writer, counting as it happens makes nobody wait.

create table rollups (
  minute integer not null,
  job_id integer not null,
  measure text not null,
  bucket integer not null,
  quantity integer not null,
  seconds real not null,
  primary key (minute, job_id, measure, bucket),
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
  insert into rollups (minute, job_id, measure, bucket, quantity, seconds)
  select
    m.column1, new.job_id, n.measure,
    iif(n.seconds is null, 0, (select min(b.bucket) from histogram_bounds as b where b.up_to >= n.seconds)),
    1, coalesce(n.seconds, 0.0)
  from (
    select new.status as measure, null as seconds
    union all
    select 'duration', (new.ended_at - new.claimed_at) / 1e6 where new.status = 'completed'
    union all
    select 'latency', (new.claimed_at - new.created_at) / 1e6 where new.claimed_at is not null
  ) as n
  cross join (values (0), (new.ended_at / 60000000 * 60000000)) as m
  where true
  on conflict (minute, job_id, measure, bucket) do update
  set quantity = quantity + 1, seconds = seconds + excluded.seconds;
end;

-- What an operator undoes has ended before; what goes on is still under its lease.
create trigger retries_are_counted after insert on attempts
when (select t.status from tasks as t where t.id = new.task_id) in ('claimed', 'running') begin
  insert into rollups (minute, job_id, measure, bucket, quantity, seconds)
  select m.column1, t.job_id, 'retried', 0, 1, 0.0
  from tasks as t
  cross join (values (0), (new.ended_at / 60000000 * 60000000)) as m
  where t.id = new.task_id
  on conflict (minute, job_id, measure, bucket) do update
  set quantity = quantity + 1;
end;
