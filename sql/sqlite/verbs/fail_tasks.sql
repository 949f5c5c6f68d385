-- fail_tasks(
--   task_ids bigint[], tokens uuid[], errors text[], kinds text[] = null, retryable boolean[] = null,
--   holder text = null
-- )
--
-- Ends attempts with an error. The job's policy decides whether a task waits for
-- another attempt (pending, with run_at) or has failed for good.
--
-- A task whose cancellation was requested becomes cancelled instead. Failing
-- again under the same token gets the same answer. With `holder` the lease must
-- also be that holder's, by name or worker id.
select json_array(
  json_array_length(:errors), json_array_length(:kinds), json_array_length(:retryable)
) as v_lengths;
-- include check_batch
select :holder as v_holder;
-- include hold_leases
with errors as materialized (
  select e.key as place, e.value as error from json_each(:errors) as e
), kinds as materialized (
  select k.key as place, k.value as kind from json_each(:kinds) as k
), retryables as materialized (
  select r.key as place, r.value as is_retryable from json_each(:retryable) as r
), held as materialized (
  select json_extract(h.value, '$[0]') as id, json_extract(h.value, '$[2]') as place
  from json_each(:v_held) as h
)
select json_group_array(json_array(h.id, e.error, k.kind, r.is_retryable)) as v_ending
from held as h
left join errors as e on e.place = h.place
left join kinds as k on k.place = h.place
left join retryables as r on r.place = h.place;
-- include end_attempts
-- What was failed by its holder is answered again, not what was taken from them.
with tokens as materialized (
  select k.key as place, k.value as token from json_each(:tokens) as k
), held as materialized (
  select json_extract(h.value, '$[0]') as id, json_extract(h.value, '$[1]') as token from json_each(:v_held) as h
), takings (kind) as (
  values ('lease_expired'), ('worker_disconnected'), ('internal_timeout')
)
select
  i.value as task_id,
  coalesce(o.status, iif(a.id is not null, 'pending', null)) as status,
  s.due_at as run_at,
  case
    when o.id is not null or a.id is not null then null
    when exists (select 1 from tasks as t where t.id = i.value) then 'PJ007'
    else 'PJ002'
  end as problem
from json_each(:task_ids) as i
cross join tokens as k on k.place = i.key
left join held as h on h.id = i.value and h.token = k.token
left join tasks as o
  on o.id = i.value and o.token = k.token and o.ended_at is not null
  and (h.id is not null or (o.status = 'failed' and coalesce(o.error_kind, '') not in (select t.kind from takings as t)))
  and (:holder is null or coalesce(o.holder, o.worker_id) = :holder)
left join attempts as a
  on a.task_id = i.value and a.token = k.token
  and (h.id is not null or (a.status = 'failed' and coalesce(a.error_kind, '') not in (select t.kind from takings as t)))
  and (:holder is null or coalesce(a.holder, a.worker_id) = :holder)
left join tasks as s on s.id = a.task_id and s.status = 'pending' and not s.is_ready
order by i.key;
