-- Refuses :v_step on :task_id unless :v_is_allowed; :v_allowed names the statuses that allow it.
select refuse('task-not-found', 'Task ' || :task_id || ' does not exist')
where not exists (select 1 from tasks as t where t.id = :task_id);
select refuse(
  'invalid-task-transition', 'Cannot ' || :v_step || ' a task that is ' || t.status,
  'Task ' || t.id || ' is ' || t.status || '.', 'Only ' || :v_allowed || ' tasks allow it.'
)
from tasks as t
where t.id = :task_id and not :v_is_allowed;
