-- Refuses statuses that no cleanup task can have.
create function pgjobs._check_cleanup_statuses(statuses text[])
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if not statuses <@ array['queued', 'running', 'retrying', 'blocked', 'done', 'ignored', 'abandoned'] then
    perform pgjobs._refuse('validation-error', 'Unknown status of a cleanup task', format('Got %s.', statuses),
      'Statuses: queued, running, retrying, blocked, done, ignored, abandoned');
  end if;
end
$$;

comment on function pgjobs._check_cleanup_statuses is
  'Refuses unknown statuses. Example: select pgjobs._check_cleanup_statuses(array[''blocked''])';

-- Refuses a step that the cleanup task's present status does not allow.
create function pgjobs._refuse_cleanup_step(task_id bigint, step text, allowed text)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_status text;
begin
  select c.status into v_status
  from pgjobs.incomplete_cleanup_tasks as c where c.task_id = _refuse_cleanup_step.task_id;
  perform pgjobs._refuse('invalid-task-transition', format('Cannot %s a cleanup that is %s', step, v_status),
    format('It is %s.', v_status), format('Only those that are %s allow it.', allowed));
end
$$;

comment on function pgjobs._refuse_cleanup_step is
  'Raises why an action is not allowed. Example: select pgjobs._refuse_cleanup_step(42, ''ignore'', ''queued'')';
