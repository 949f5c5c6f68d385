-- The tasks an operator names by :task_ids or :task_uuids, in that order, as :v_named; null
-- stands for a public id that this queue never gave out.
select refuse('validation-error', 'Name at most 1000 tasks, by number or by public id')
where (:task_ids is null) = (:task_uuids is null)
  or json_array_length(coalesce(:task_ids, :task_uuids)) > 1000;
select json_group_array(n.id) as v_named
from (
  select iif(:task_ids is null, task_id(i.value, (select s.task_key from secrets as s)), i.value) as id
  from json_each(coalesce(:task_ids, :task_uuids)) as i
  order by i.key
) as n;
