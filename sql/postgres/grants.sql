-- Who may do what. Roles hold functions and views, never tables.
do $$
declare
  v_role text;
begin
  foreach v_role in array array[
    'pgjobs_readonly', 'pgjobs_producer', 'pgjobs_worker', 'pgjobs_operator', 'pgjobs_api', 'pgjobs_tenant'
  ] loop
    if not exists (select from pg_roles as r where r.rolname = v_role) then
      -- Roles belong to the cluster: a queue in another database may be creating them.
      begin
        execute format('create role %I nologin', v_role);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;
end
$$;

grant usage on schema pgjobs to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api, pgjobs_tenant;

-- Looking. Views check the functions they call against whoever looks.
grant select on pgjobs.task, pgjobs.job, pgjobs.workflow, pgjobs.problems, pgjobs.installed
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs._now, pgjobs._present, pgjobs._never, pgjobs._known_moment, pgjobs._wait_phase, pgjobs._task_mask,
  pgjobs._uuid_of, pgjobs.task_uuid, pgjobs.task_id, pgjobs.help, pgjobs.get_job, pgjobs.list_jobs, pgjobs.list_workers,
  pgjobs.list_tasks, pgjobs.list_attempts, pgjobs.list_task_events, pgjobs.get_workflow, pgjobs.list_workflows,
  pgjobs.get_workflow_graph, pgjobs.list_events, pgjobs.list_metrics, pgjobs.get_sharing, pgjobs.list_keys,
  pgjobs.replication_position, pgjobs.next_cursor
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;

-- Payloads and results.
grant select on pgjobs.generic_jobs to pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs.get_task, pgjobs.watch_task, pgjobs.get_generic_job, pgjobs.list_generic_jobs, pgjobs.list_steps, pgjobs.list_log,
  pgjobs.list_parents, pgjobs.list_workflow_tasks, pgjobs.show_flow, pgjobs.show_steps
to pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;

-- Submitting.
grant execute on function
  pgjobs.submit_tasks, pgjobs.submit_task, pgjobs.submit_unique, pgjobs.create_generic_jobs, pgjobs.cancel_task, pgjobs.cancel_tasks,
  pgjobs.send_signal, pgjobs.submit_workflow, pgjobs.cancel_workflow
to pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;

-- Working.
grant execute on function
  pgjobs.register_job, pgjobs.set_error_policy, pgjobs.register_worker, pgjobs.heartbeat_worker,
  pgjobs.retire_worker, pgjobs.claim_tasks, pgjobs.start_tasks, pgjobs.report_progress, pgjobs.renew_tasks,
  pgjobs.complete_tasks, pgjobs.fail_tasks, pgjobs.release_tasks, pgjobs.mark_waiting, pgjobs.sweep,
  pgjobs.acquire_generic_jobs, pgjobs.append_log, pgjobs.save_step, pgjobs.suspend_task, pgjobs.call_tasks
to pgjobs_worker, pgjobs_api;

-- Operating.
grant execute on function
  pgjobs.retry_task, pgjobs.retry_tasks, pgjobs.retry_workflow, pgjobs.ignore_task, pgjobs.ignore_tasks,
  pgjobs.unignore_task, pgjobs.unignore_tasks,
  pgjobs.archive_job, pgjobs.unarchive_job,
  pgjobs.pause_job, pgjobs.resume_job, pgjobs.limit_job, pgjobs.set_job_policy, pgjobs.retire_job, pgjobs.prune_tasks,
  pgjobs.resubmit_task, pgjobs.check
to pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.retire_worker, pgjobs.set_error_policy, pgjobs.sweep to pgjobs_operator;

-- Over HTTP: lists, tasks as they are shown, providers and their answers, tokens.
grant execute on function
  pgjobs.count_jobs, pgjobs.count_workers, pgjobs.count_tasks, pgjobs.get_provider, pgjobs.list_providers,
  pgjobs.count_providers
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs.show_task, pgjobs.show_tasks, pgjobs.watch_tasks, pgjobs.submit_and_show, pgjobs.get_reads,
  pgjobs.request_read, pgjobs.lock_read, pgjobs.unlock_read
to pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs.heartbeat_and_show, pgjobs.claim_and_show, pgjobs.unmark_waiting, pgjobs.update_task, pgjobs.register_provider,
  pgjobs.answer_read, pgjobs.store_read, pgjobs.forget_read
to pgjobs_worker, pgjobs_api;
grant execute on function pgjobs.retire_provider to pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.create_token, pgjobs.list_tokens, pgjobs.revoke_token to pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.verify_token, pgjobs.restore_payload, pgjobs.restore_schedule_payload to pgjobs_api;
grant execute on function pgjobs.create_sign_in to pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.open_session, pgjobs.verify_session, pgjobs.close_session to pgjobs_api;

-- The console: a part of each list with what may be done, and what a provider is made to forget.
grant execute on function
  pgjobs.find_tasks, pgjobs.count_found_tasks, pgjobs.show_workers, pgjobs.inspect_worker, pgjobs.show_why,
  pgjobs.show_database
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.inspect_task to pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.invalidate_provider to pgjobs_worker, pgjobs_operator, pgjobs_api;

-- Live events.
grant execute on function pgjobs.watch_events, pgjobs.track_tasks
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;

-- The operator's views, and the functions they show.
grant select on
  pgjobs.overview, pgjobs.top, pgjobs.jobs_status, pgjobs.running, pgjobs.waiting, pgjobs.scheduled_tasks,
  pgjobs.failed, pgjobs.stuck, pgjobs.errors, pgjobs.workers_status, pgjobs.providers_status, pgjobs.throughput,
  pgjobs.metrics, pgjobs.task_events
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs.overview, pgjobs.top, pgjobs.jobs_status, pgjobs.running, pgjobs.waiting, pgjobs.scheduled_tasks,
  pgjobs.failed, pgjobs.stuck, pgjobs.errors, pgjobs.workers_status, pgjobs.providers_status, pgjobs.throughput,
  pgjobs.metrics, pgjobs.why
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant select on pgjobs.findings, pgjobs.storage, pgjobs.blockers to pgjobs_readonly, pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.findings, pgjobs.show_findings, pgjobs.storage, pgjobs.blockers
to pgjobs_readonly, pgjobs_operator, pgjobs_api;

-- Schedules.
grant select on pgjobs.schedule to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.list_schedules, pgjobs.count_schedules, pgjobs.preview_schedule
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.get_schedule to pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.register_schedule, pgjobs.fire_schedules to pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs.run_schedule, pgjobs.pause_schedule, pgjobs.resume_schedule, pgjobs.retire_schedule
to pgjobs_operator, pgjobs_api;

-- Clean-up after incomplete runs.
grant select on pgjobs.incomplete_cleanup_tasks, pgjobs.incomplete_cleanup_events
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs._is_harmless, pgjobs._shown_payload, pgjobs._redact, pgjobs._redact_line, pgjobs._redact_document, pgjobs.list_cleanups,
  pgjobs.count_cleanups, pgjobs.get_cleanup, pgjobs.list_cleanup_events, pgjobs.list_cleanup_nodes, pgjobs.get_job_target
to pgjobs_readonly, pgjobs_producer, pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function pgjobs.reconcile_cleanups, pgjobs.claim_cleanups, pgjobs.await_cleanups
to pgjobs_worker, pgjobs_operator, pgjobs_api;
grant execute on function
  pgjobs.set_job_target, pgjobs.retry_cleanup, pgjobs.ignore_cleanup, pgjobs.unignore_cleanup, pgjobs.act_on_cleanups,
  pgjobs.delete_job
to pgjobs_operator, pgjobs_api;

-- Tenants: logins that are confined to the rooms they were granted. Nothing but verbs and
-- views that ask pgjobs._rooms(), or that only the holder of a lease can use.
grant execute on function pgjobs.grant_room, pgjobs.revoke_room, pgjobs.list_room_grants to pgjobs_operator;
grant select on pgjobs.my_tasks, pgjobs.problems, pgjobs.overview, pgjobs.jobs_status, pgjobs.throughput to pgjobs_tenant;
grant execute on function
  pgjobs._now, pgjobs._present, pgjobs._never, pgjobs._wait_phase, pgjobs._task_mask, pgjobs._uuid_of, pgjobs.help,
  pgjobs.my_rooms,
  pgjobs.get_job, pgjobs.list_jobs, pgjobs.count_jobs, pgjobs.get_task, pgjobs.list_tasks, pgjobs.next_cursor, pgjobs.count_tasks,
  pgjobs.list_attempts, pgjobs.list_task_events, pgjobs.watch_task, pgjobs.why,
  pgjobs.overview, pgjobs.jobs_status, pgjobs.throughput,
  pgjobs.submit_tasks, pgjobs.submit_task, pgjobs.submit_unique, pgjobs.cancel_task, pgjobs.cancel_tasks,
  pgjobs.register_job, pgjobs.register_worker, pgjobs.heartbeat_worker, pgjobs.retire_worker,
  pgjobs.claim_tasks, pgjobs.mark_waiting, pgjobs.start_tasks, pgjobs.report_progress, pgjobs.renew_tasks,
  pgjobs.complete_tasks, pgjobs.fail_tasks, pgjobs.release_tasks,
  pgjobs.append_log, pgjobs.list_log,
  pgjobs.save_step, pgjobs.list_steps, pgjobs.suspend_task, pgjobs.call_tasks, pgjobs.send_signal, pgjobs.list_parents,
  pgjobs.submit_workflow, pgjobs.get_workflow, pgjobs.list_workflows, pgjobs.list_workflow_tasks, pgjobs.get_workflow_graph,
  pgjobs.cancel_workflow
to pgjobs_tenant;
