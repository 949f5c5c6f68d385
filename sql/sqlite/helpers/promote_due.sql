-- Brings up to :v_batch scheduled tasks that have become due into line, in
-- order of time; :v_promoted says how many.
select json_group_array(d.id) as v_due, count(*) as v_promoted
from (
  select t.id
  from tasks as t
  where t.status = 'pending' and not t.is_ready and t.due_at <= now()
  order by t.due_at, t.id
  limit :v_batch
) as d;
update tasks
set is_ready = true, error = null, error_kind = null
from json_each(:v_due) as d
where tasks.id = d.value;
