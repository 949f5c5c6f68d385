-- Keeps the outcomes of :v_changing in the attempt history, from where they can be undone.
insert into attempts (
  task_id, attempt, status, token, worker_id, holder, claimed_at, started_at, ended_at, error, error_kind, reason
)
select
  t.id, t.attempt, t.status, t.token, t.worker_id, t.holder, t.claimed_at, t.started_at, t.ended_at,
  t.error, t.error_kind, t.reason
from tasks as t
where t.id in (select c.value from json_each(:v_changing) as c) and t.status in ('failed', 'cancelled')
order by t.id;
