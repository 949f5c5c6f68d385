-- What :v_step did to :task_id, as :v_outcome says; refuses it unless the task's status allowed it.
select refuse('task-not-found', 'Task ' || :task_id || ' does not exist')
where not exists (select 1 from tasks as t where t.id = :task_id);
select refuse(
  'invalid-task-transition', 'Cannot ' || :v_step || ' a task that is ' || t.status,
  'Task ' || t.id || ' is ' || t.status || '.', 'Only ' || :v_allowed || ' tasks allow it.'
)
from tasks as t
where t.id = :task_id and json_extract(:v_outcome, '$[0].problem') is not null;
select v.* from task as v where v.id = :task_id;
