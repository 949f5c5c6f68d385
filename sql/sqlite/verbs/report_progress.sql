-- report_progress(task_ids bigint[], tokens uuid[], progress jsonb[])
--
-- Keeps what workers report about running tasks, and tells which should stop.
select json_array(json_array_length(:progress)) as v_lengths;
-- include check_batch
select :progress as v_documents, 'progress' as v_what;
-- include check_documents
select null as v_holder;
-- include hold_leases
with reports as materialized (
  select p.key as place, p.value as progress from json_each(:progress) as p
), held as materialized (
  select json_extract(h.value, '$[0]') as id, json_extract(h.value, '$[2]') as place
  from json_each(:v_held) as h
)
update tasks
set
  progress = (select r.progress from reports as r where r.place = h.place),
  status = 'running',
  started_at = coalesce(started_at, now()),
  updated_at = now()
from held as h
where tasks.id = h.id;
with tokens as materialized (
  select k.key as place, k.value as token from json_each(:tokens) as k
)
select
  i.value as task_id,
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
