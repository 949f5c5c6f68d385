-- How the step on :v_named went, which :v_allowing allowed.
select
  i.value as task_id,
  t.status,
  case
    when t.id is null then 'PJ002'
    when not exists (select 1 from json_each(:v_allowing) as a where a.value = t.id) then 'PJ006'
  end as problem
from json_each(:v_named) as i
left join tasks as t on t.id = i.value
order by i.key;
