-- Submits what a running task calls, from its room and on behalf of its owner.
create function pgjobs._submit_calls(task_id bigint, step text, job text, payloads jsonb[], priority integer, max_attempts integer)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_caller pgjobs.tasks := (select t from pgjobs.tasks as t where t.id = _submit_calls.task_id);
begin
  perform pgjobs._use_dependencies();
  insert into pgjobs.dependencies (task_id, after_id, kind, name, place, on_failure)
  select _submit_calls.task_id, n.task_id, 'call', _submit_calls.step, n.place, 'run'
  from pgjobs.submit_tasks(
    job => _submit_calls.job, payloads => _submit_calls.payloads, room => v_caller.room,
    priority => coalesce(_submit_calls.priority, v_caller.priority), max_attempts => _submit_calls.max_attempts,
    submitter => v_caller.submitter, owner => v_caller.owner, project => v_caller.project,
    trace_context => v_caller.trace_context
  ) with ordinality as n (task_id, is_new, place);
end
$$;

comment on function pgjobs._submit_calls is
  'Submits what a running task calls. Example: see pgjobs.call_tasks, which then waits for it';
