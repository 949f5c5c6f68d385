-- release_tasks(task_ids bigint[], tokens uuid[], delay interval = null, holder text = null)
--
-- Gives leases back unused: no attempt is counted and the task keeps its place
-- in the lane. With a `delay` it becomes due that much later instead. With
-- `holder` the lease must also be that holder's.
select json_array() as v_lengths;
-- include check_batch
select refuse('validation-error', 'delay must be between zero and 1000 years', 'Got ' || :delay / 1e6 || ' s.')
where :delay not between 0 and 31557600000000000;
select :holder as v_holder;
-- include hold_leases
update tasks
set status = 'cancelled', ended_at = now(), until = null, progress = null, cancel_requested_at = null
where cancel_requested_at is not null
  and id in (select json_extract(h.value, '$[0]') from json_each(:v_held) as h);
update tasks
set
  status = 'pending',
  is_ready = :delay is null,
  due_at = coalesce(now() + :delay, created_at),
  attempt = attempt - 1,
  token = null,
  worker_id = null,
  holder = null,
  claimed_at = null,
  until = null,
  started_at = null,
  updated_at = now(),
  progress = null
where status <> 'cancelled'
  and id in (select json_extract(h.value, '$[0]') from json_each(:v_held) as h);
with tokens as materialized (
  select k.key as place, k.value as token from json_each(:tokens) as k
), released as materialized (
  select json_extract(h.value, '$[0]') as id, json_extract(h.value, '$[1]') as token
  from json_each(:v_held) as h
)
select
  i.value as task_id,
  t.status,
  case
    when t.id is not null then null
    when exists (select 1 from tasks as o where o.id = i.value) then 'PJ007'
    else 'PJ002'
  end as problem
from json_each(:task_ids) as i
cross join tokens as k on k.place = i.key
left join released as r on r.id = i.value and r.token = k.token
left join tasks as t on t.id = r.id
order by i.key;
