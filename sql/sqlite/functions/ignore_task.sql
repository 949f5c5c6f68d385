-- ignore_task(task_id bigint, actor text = null, reason text = null)
--
-- Puts a pending or failed task aside until somebody unignores or retries it.
select json_array(:task_id) as v_one;
-- call ignore_tasks(task_ids => :v_one, actor => :actor, reason => :reason) into v_outcome
select
  'ignore' as v_step,
  'pending and failed' as v_allowed,
  json_extract(:v_outcome, '$[0].problem') is null as v_is_allowed;
-- include refuse_step
select v.* from task as v where v.id = :task_id;
