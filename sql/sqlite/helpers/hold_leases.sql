-- The leases an acknowledgement speaks of, those of them that still hold and,
-- when :v_holder names one, are that holder's, as :v_held: arrays of task, token
-- and place in the batch.
with tokens as materialized (
  select k.key as place, k.value as token from json_each(:tokens) as k
)
select json_group_array(json_array(h.id, h.token, h.place)) as v_held
from (
  select t.id, t.token, min(i.key) as place
  from json_each(:task_ids) as i
  cross join tokens as k on k.place = i.key
  cross join tasks as t on t.id = i.value and t.token = k.token
  where t.status in ('claimed', 'running')
    and (t.until is null or t.until > now())
    and (:v_holder is null or coalesce(t.holder, t.worker_id) = :v_holder)
  group by t.id
) as h;
