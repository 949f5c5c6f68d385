-- What ended since :v_since, by :v_by (job, time or all; time in steps of
-- :v_step), of one job if :v_job is given, as :v_rates.
with ended as materialized (
  select
    case :v_by when 'job' then t.job_id when 'time' then t.ended_at / :v_step * :v_step else 0 end as part,
    t.status,
    (t.claimed_at - t.created_at) / 1e6 as waited,
    iif(t.status = 'completed', (t.ended_at - t.claimed_at) / 1e6, null) as ran
  from tasks as t
  where t.ended_at >= :v_since and t.job_id = coalesce(:v_job, t.job_id)
), retries as (
  select
    case :v_by when 'job' then t.job_id when 'time' then a.ended_at / :v_step * :v_step else 0 end as part,
    count(*) as quantity
  from attempts as a
  cross join tasks as t on t.id = a.task_id
  where a.ended_at >= :v_since and a.status = 'failed' and t.job_id = coalesce(:v_job, t.job_id)
  group by 1
), waits as (
  select
    e.part, e.waited,
    row_number() over (partition by e.part order by e.waited) as place,
    count(*) over (partition by e.part) as quantity
  from ended as e
  where e.waited is not null
), runs as (
  select
    e.part, e.ran,
    row_number() over (partition by e.part order by e.ran) as place,
    count(*) over (partition by e.part) as quantity
  from ended as e
  where e.ran is not null
)
select json_group_array(json_object(
  'part', p.part,
  'completed', (select count(*) from ended as e where e.part = p.part and e.status = 'completed'),
  'failed', (select count(*) from ended as e where e.part = p.part and e.status = 'failed'),
  'cancelled', (select count(*) from ended as e where e.part = p.part and e.status = 'cancelled'),
  'retried', coalesce((select r.quantity from retries as r where r.part = p.part), 0),
  'wait_p50', (select min(w.waited) from waits as w where w.part = p.part and w.place >= w.quantity * 0.5),
  'wait_p95', (select min(w.waited) from waits as w where w.part = p.part and w.place >= w.quantity * 0.95),
  'run_p50', (select min(r.ran) from runs as r where r.part = p.part and r.place >= r.quantity * 0.5),
  'run_p95', (select min(r.ran) from runs as r where r.part = p.part and r.place >= r.quantity * 0.95)
)) as v_rates
from (
  select e.part from ended as e
  union
  select r.part from retries as r
) as p;
