-- list_attempts(task_id bigint)
--
-- Every ended attempt of a task, oldest first; the one that settled it last. They are
-- numbered through all of its lives: an operator's retry does not begin again at 1.
select refuse('task-not-found', 'Task ' || :task_id || ' does not exist')
where not exists (select 1 from tasks as t where t.id = :task_id);
select
  count(a.claimed_at) over (order by a.is_outcome, a.id) as attempt,
  a.status, a.worker_id, a.holder, a.claimed_at, a.started_at, a.ended_at, a.error, a.error_kind, a.reason
from (
  select h.*, false as is_outcome from attempts as h where h.task_id = :task_id
  union all
  select
    null, t.id, t.attempt, t.status, t.token, t.worker_id, t.holder, t.claimed_at, t.started_at, t.ended_at,
    t.error, t.error_kind, t.reason, true
  from tasks as t
  where t.id = :task_id and t.ended_at is not null
) as a
order by a.is_outcome, a.id;
