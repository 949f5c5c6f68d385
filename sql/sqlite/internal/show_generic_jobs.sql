-- Shows :v_tasks, an array of ids, in the words of the generic job manager and in that order.
select v.*
from json_each(:v_tasks) as i
cross join generic_jobs as v on v.id = i.value
order by i.key;
