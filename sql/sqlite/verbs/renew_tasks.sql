-- renew_tasks(task_ids bigint[], tokens uuid[], lease interval, holder text = null)
--
-- Extends leases and tells which tasks should stop. Never shortens a lease, and
-- never reaches further than settings.max_lease; one that lives by heartbeats
-- alone stays so. With `holder` the lease must also be that holder's.
-- include check_lease
select json_array() as v_lengths;
-- include check_batch
select :holder as v_holder;
-- include hold_leases
update tasks set until = :v_until, updated_at = now()
where until < :v_until and id in (select json_extract(h.value, '$[0]') from json_each(:v_held) as h);
with tokens as materialized (
  select k.key as place, k.value as token from json_each(:tokens) as k
)
select
  i.value as task_id,
  l.until,
  l.id is not null and l.cancel_requested_at is not null as cancel_requested,
  case
    when l.id is not null then null
    when exists (select 1 from tasks as t where t.id = i.value) then 'PJ007'
    else 'PJ002'
  end as problem
from json_each(:task_ids) as i
cross join tokens as k on k.place = i.key
left join tasks as l
  on l.id = i.value and l.token = k.token
  and l.status in ('claimed', 'running') and (l.until is null or l.until > now())
  and (:holder is null or coalesce(l.holder, l.worker_id) = :holder)
order by i.key;
