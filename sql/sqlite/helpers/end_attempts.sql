-- Ends attempts without success: retries what may be retried, fails or cancels
-- the rest. Takes :v_ending, arrays of task, error, kind and whether it may be
-- retried; answers :v_judged, arrays of task and verdict.
--
-- An outage (kind `outage`) is not the task's fault: it is noted and waited for, and uses
-- up no attempt, as long as there were not too many in a row.
with ending as materialized (
  select
    json_extract(e.value, '$[0]') as id,
    redact(coalesce(json_extract(e.value, '$[1]'), 'unknown error')) as error,
    json_extract(e.value, '$[2]') as kind,
    coalesce(json_extract(e.value, '$[3]'), true) as is_retryable
  from json_each(:v_ending) as e
), recent as materialized (
  select
    a.task_id, a.id, a.error_kind,
    row_number() over (partition by a.task_id order by a.id desc) as place
  from attempts as a
  where a.task_id in (select e.id from ending as e where e.kind = 'outage' and e.is_retryable)
), outages as materialized (
  select
    e.id,
    (
      select count(*)
      from recent as r
      where r.task_id = e.id
        and r.id > coalesce(
          (select max(o.id) from recent as o where o.task_id = e.id and o.error_kind is not 'outage'), 0
        )
    ) as quantity
  from ending as e
  where e.kind = 'outage' and e.is_retryable
), policies as materialized (
  select
    e.id, e.error, substr(e.kind, 1, 200) as kind, t.cancel_requested_at, t.attempt, u.id is not null as is_free,
    e.is_retryable and coalesce(p.is_retryable, true)
    and (t.attempt < t.max_attempts or u.id is not null)
    and (j.max_age is null or t.created_at > now() - j.max_age) as may_retry,
    iif(
      p.kind is null and u.id is not null,
      min(1000000.0 * (1 << min(u.quantity, 60)), 60000000),
      min(
        iif(p.kind is null, j.backoff_base, p.backoff_base) * 1.0 * (1 << min(t.attempt - 1, 60)),
        iif(p.kind is null, j.backoff_cap, p.backoff_cap)
      )
    ) as delay,
    case
      when p.kind is not null then p.jitter_share
      when u.id is not null then 0.25
      else j.jitter_share
    end as jitter_share,
    case
      when p.kind is not null then coalesce(p.jitter_cap, 9e18)
      when u.id is not null then 9e18
      else coalesce(j.jitter_cap, 9e18)
    end as jitter_cap
  from ending as e
  cross join tasks as t on t.id = e.id
  join jobs as j on j.id = t.job_id
  left join error_policies as p on p.job_id = t.job_id and p.kind = e.kind
  left join outages as u on u.id = e.id and u.quantity < (select s.max_outages from settings as s)
)
select json_group_array(json_array(
  p.id,
  case when p.cancel_requested_at is not null then 'cancelled' when p.may_retry then 'pending' else 'failed' end,
  p.error,
  p.kind,
  -- Jitter depends on the task and the attempt alone, so that it can be predicted.
  now() + cast(p.delay + min(p.delay * p.jitter_share, p.jitter_cap) * luck(p.id, p.attempt) as integer),
  p.is_free
)) as v_judged
from policies as p;

insert into attempts (
  task_id, attempt, status, token, worker_id, holder, claimed_at, started_at, ended_at, error, error_kind
)
select
  t.id, t.attempt, 'failed', t.token, t.worker_id, t.holder, t.claimed_at, t.started_at, now(),
  json_extract(e.value, '$[2]'), json_extract(e.value, '$[3]')
from json_each(:v_judged) as e
cross join tasks as t on t.id = json_extract(e.value, '$[0]')
where json_extract(e.value, '$[1]') = 'pending';

update tasks
set
  status = 'pending',
  attempt = tasks.attempt - json_extract(e.value, '$[5]'),
  due_at = json_extract(e.value, '$[4]'),
  error = json_extract(e.value, '$[2]'),
  error_kind = json_extract(e.value, '$[3]'),
  token = null,
  worker_id = null,
  holder = null,
  claimed_at = null,
  until = null,
  started_at = null,
  progress = null,
  cancel_requested_at = null
from json_each(:v_judged) as e
where tasks.id = json_extract(e.value, '$[0]') and json_extract(e.value, '$[1]') = 'pending';

update tasks
set
  status = json_extract(e.value, '$[1]'),
  ended_at = now(),
  error = iif(json_extract(e.value, '$[1]') = 'failed', json_extract(e.value, '$[2]'), null),
  error_kind = iif(json_extract(e.value, '$[1]') = 'failed', json_extract(e.value, '$[3]'), null),
  until = null,
  progress = null,
  cancel_requested_at = null
from json_each(:v_judged) as e
where tasks.id = json_extract(e.value, '$[0]') and json_extract(e.value, '$[1]') <> 'pending';
