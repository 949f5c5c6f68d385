-- throughput(of_job text = null, since interval = '1 hour', step interval = '1 minute')
--
-- What ended in each step of time, the oldest first, and how long it took, of
-- the tasks still kept.
select refuse('validation-error', 'step must be a minute or more, and since at most 1500 steps')
where :step < 60000000 or :since <= 0 or :since > 1500 * :step;
select :of_job as v_address;
-- include find_job
select (now() - :since) / :step * :step as v_since, 'time' as v_by, :step as v_step;
-- include rates
with recursive steps (at) as (
  select :v_since
  union all
  select s.at + :step from steps as s where s.at + :step <= now()
)
select
  s.at,
  coalesce(json_extract(r.value, '$.completed'), 0) as completed,
  coalesce(json_extract(r.value, '$.failed'), 0) as failed,
  coalesce(json_extract(r.value, '$.cancelled'), 0) as cancelled,
  coalesce(json_extract(r.value, '$.retried'), 0) as retried,
  json_extract(r.value, '$.wait_p50') as wait_p50,
  json_extract(r.value, '$.wait_p95') as wait_p95,
  json_extract(r.value, '$.run_p50') as run_p50,
  json_extract(r.value, '$.run_p95') as run_p95
from steps as s
left join json_each(:v_rates) as r on json_extract(r.value, '$.part') = s.at
order by s.at;
