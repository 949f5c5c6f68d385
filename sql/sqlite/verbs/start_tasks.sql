-- start_tasks(task_ids bigint[], tokens uuid[])
--
-- Says that work on claimed tasks has begun, and tells which should stop at
-- once. Starting a running task again changes nothing.
select json_array() as v_lengths;
-- include check_batch
select null as v_holder;
-- include hold_leases
update tasks set status = 'running', started_at = now()
where status = 'claimed' and id in (select json_extract(h.value, '$[0]') from json_each(:v_held) as h);
with tokens as materialized (
  select k.key as place, k.value as token from json_each(:tokens) as k
)
select
  i.value as task_id,
  l.status,
  l.id is not null and l.cancel_requested_at is not null as cancel_requested,
  case
    when l.id is not null then null
    when exists (select 1 from tasks as t where t.id = i.value) then 'PJ007'
    else 'PJ002'
  end as problem
from json_each(:task_ids) as i
cross join tokens as k on k.place = i.key
left join tasks as l
  on l.id = i.value and l.token = k.token and l.status = 'running' and (l.until is null or l.until > now())
order by i.key;
