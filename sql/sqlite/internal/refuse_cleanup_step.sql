-- Refuses :v_step unless the clean-up task :v_task has one of the statuses :v_allowed.
select refuse(
  'invalid-task-transition', 'Cannot ' || :v_step || ' a clean-up that is ' || c.status,
  'It is ' || c.status || '.', 'Only those that are ' || :v_allowed || ' allow it.'
)
from incomplete_cleanup_tasks as c
where c.task_id = :v_task and instr(', ' || replace(:v_allowed, ' and ', ', ') || ', ', ', ' || c.status || ', ') = 0;
