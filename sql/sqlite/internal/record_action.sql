-- Records what an operator did to :task_id.
insert into events (at, kind, task_id, job_id, room, status, actor, message)
select now(), :v_kind, t.id, t.job_id, t.room, :v_status, :actor, substr(redact(:reason), 1, 500)
from tasks as t
where t.id = :task_id;
