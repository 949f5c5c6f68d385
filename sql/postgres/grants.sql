-- Who may do what. Roles hold functions and views, never tables.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['pgjobs_readonly', 'pgjobs_producer', 'pgjobs_worker', 'pgjobs_operator', 'pgjobs_api'] loop
    if not exists (select from pg_roles as r where r.rolname = v_role) then
      execute format('create role %I nologin', v_role);
    end if;
  end loop;
end
$$;

grant usage on schema pgjobs to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;

-- Looking. Views check the functions they call against whoever looks.
grant select on pgjobs.task, pgjobs.job, pgjobs.problems
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs.now, pgjobs.task_uuid, pgjobs.task_id, pgjobs.help, pgjobs.get_job, pgjobs.list_jobs, pgjobs.list_workers,
  pgjobs.list_tasks, pgjobs.list_attempts, pgjobs.list_events
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;

-- Payloads and results.
grant execute on function pgjobs.get_task, pgjobs.watch_task
to pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;

-- Submitting.
grant execute on function pgjobs.submit_tasks, pgjobs.submit_task, pgjobs.cancel_task
to pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;

-- Working.
grant execute on function
  pgjobs.register_job, pgjobs.set_error_policy, pgjobs.register_worker, pgjobs.heartbeat_worker,
  pgjobs.retire_worker, pgjobs.claim_tasks, pgjobs.start_tasks, pgjobs.report_progress, pgjobs.renew_tasks,
  pgjobs.complete_tasks, pgjobs.fail_tasks, pgjobs.release_tasks, pgjobs.mark_waiting, pgjobs.sweep
to pgjobs_worker, pgjobs_api;

-- Operating.
grant execute on function
  pgjobs.retry_task, pgjobs.ignore_task, pgjobs.unignore_task, pgjobs.archive_job, pgjobs.unarchive_job,
  pgjobs.pause_job, pgjobs.resume_job, pgjobs.retire_job, pgjobs.prune_tasks, pgjobs.check
to pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.retire_worker, pgjobs.set_error_policy, pgjobs.sweep to pgjobs_operator;
