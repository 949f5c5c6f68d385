-- Records what an operator did to :v_changing.
insert into events (at, kind, task_id, job_id, room, status, actor, message)
select now(), :v_kind, t.id, t.job_id, t.room, :v_status, :actor, substr(redact(:reason), 1, 500)
from tasks as t
where t.id in (select c.value from json_each(:v_changing) as c)
order by t.id;
