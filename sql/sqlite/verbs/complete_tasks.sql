-- complete_tasks(task_ids bigint[], tokens uuid[], results jsonb[] = null, holder text = null)
--
-- Ends tasks successfully. Answers per item: the status, or the problem's SQLSTATE.
--
-- An item whose lease has lapsed or passed on changes nothing (PJ007). Completing
-- again under the same token gets the same answer, so a lost reply can be retried.
-- With `holder` the lease must also be that holder's, by name or worker id.
select json_array(json_array_length(:results)) as v_lengths;
-- include check_batch
select :results as v_documents, 'result' as v_what;
-- include check_documents
select :holder as v_holder;
-- include hold_leases
with results as materialized (
  select r.key as place, r.value as result from json_each(:results) as r
), held as materialized (
  select json_extract(h.value, '$[0]') as id, json_extract(h.value, '$[2]') as place
  from json_each(:v_held) as h
)
update tasks
set
  status = 'completed',
  ended_at = now(),
  started_at = coalesce(started_at, claimed_at),
  result = (select r.result from results as r where r.place = h.place),
  until = null,
  progress = null,
  cancel_requested_at = null,
  reason = null
from held as h
where tasks.id = h.id;
with tokens as materialized (
  select k.key as place, k.value as token from json_each(:tokens) as k
)
select
  i.value as task_id,
  o.status,
  case
    when o.id is not null then null
    when exists (select 1 from tasks as t where t.id = i.value) then 'PJ007'
    else 'PJ002'
  end as problem
from json_each(:task_ids) as i
cross join tokens as k on k.place = i.key
left join tasks as o
  on o.id = i.value and o.token = k.token and o.status = 'completed'
  and (:holder is null or coalesce(o.holder, o.worker_id) = :holder)
order by i.key;
