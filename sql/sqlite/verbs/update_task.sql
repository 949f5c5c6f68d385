-- update_task(
--   task_uuid uuid, status text, error text = null, result jsonb = null, token uuid = null,
--   actor text = null,
--   is_superuser boolean = false
-- )
--
-- Takes a task to another status on behalf of somebody, without their having to
-- know the lease: the owner of the task's worker or a superuser may, and whoever
-- submitted it as long as no worker has it. A `token` that is not the current
-- one is refused as lost, and saying again what was said under it changes nothing.
-- An ending retires the job if that leaves it orphaned.
-- include find_task
-- The lease before its owner: a worker whose task passed on to somebody else's is told that.
select
  t.status as v_old,
  t.token as v_token,
  t.job_id as v_job,
  coalesce(t.token = :token and t.status = :status and (t.ended_at is not null or t.status = 'running'), false)
  -- What was failed may be tried again since, or have ended otherwise.
  or (:status = 'failed' and exists (
    select 1 from attempts as a
    where a.task_id = t.id and a.token = :token and a.status = 'failed'
      and coalesce(a.error_kind, '') not in ('lease_expired', 'worker_disconnected', 'internal_timeout')
  )) as v_is_said
from tasks as t
where t.id = :v_task;
select refuse(
  'lease-lost', 'The lease of task ' || :task_uuid || ' is lost', 'It lapsed or passed to another worker.'
)
where not :v_is_said
  and :token is not null
  and (:v_old not in ('claimed', 'running') or :v_token is not :token);
select refuse('forbidden', 'Task ' || :task_uuid || ' is not yours to change')
from tasks as t
where t.id = :v_task
  and not :v_is_said
  and :actor is not null
  and not :is_superuser
  and not exists (select 1 from workers as w where w.id = t.worker_id and w.owner = :actor)
  and (t.worker_id is not null or t.submitter is not :actor);
select refuse('validation-error', 'Unknown status ' || quote(:status))
where :status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled');
select refuse('invalid-task-transition', 'Cannot transition from ''' || :v_old || ''' to ''' || :status || '''')
where not :v_is_said
  and not case :v_old
    when 'pending' then :status = 'cancelled'
    when 'claimed' then :status in ('running', 'failed', 'cancelled')
    when 'running' then :status in ('completed', 'failed', 'cancelled')
    else false
  end;
select refuse('lease-lost', 'The lease of task ' || :task_uuid || ' is lost', 'It lapsed.')
from tasks as t
where t.id = :v_task and t.until <= now() and not :v_is_said and :status <> 'cancelled';

-- Each step acts on nothing unless it is the one asked for.
select
  iif(:status = 'running' and not :v_is_said, json_array(:v_task), '[]') as v_starting,
  iif(:status = 'running' and not :v_is_said, json_array(:v_token), '[]') as v_starting_tokens,
  iif(:status = 'completed' and not :v_is_said, json_array(:v_task), '[]') as v_completing,
  iif(:status = 'completed' and not :v_is_said, json_array(:v_token), '[]') as v_completing_tokens,
  iif(:result is null or :v_is_said, null, json_array(:result)) as v_results,
  iif(:status = 'failed' and not :v_is_said, json_array(:v_task), '[]') as v_failing,
  iif(:status = 'failed' and not :v_is_said, json_array(:v_token), '[]') as v_failing_tokens,
  iif(:status = 'failed' and not :v_is_said, json_array(coalesce(:error, 'unknown error')), '[]') as v_errors;
call start_tasks(task_ids => :v_starting, tokens => :v_starting_tokens) into v_started;
call complete_tasks(task_ids => :v_completing, tokens => :v_completing_tokens, results => :v_results) into v_completed;
call fail_tasks(task_ids => :v_failing, tokens => :v_failing_tokens, errors => :v_errors) into v_failed;
select
  iif(:status = 'cancelled' and not :v_is_said, json_array(:v_task), '[]') as v_ending,
  substr(redact(:error), 1, 500) as v_reason,
  iif(:status = 'running', '[]', json_array(:v_job)) as v_left_jobs,
  null as v_unkept;
-- include cancel_now
-- include retire_orphans
select a.* from task_answer as a where a.id = :v_task;
