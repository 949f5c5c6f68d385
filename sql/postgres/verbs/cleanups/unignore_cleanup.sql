-- Takes up again what somebody ignored: due now, no attempts used.
create function pgjobs.unignore_cleanup(run_id uuid, actor text default null, reason text default null)
returns setof pgjobs.incomplete_cleanup_tasks
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_task bigint := pgjobs._find_cleanup(unignore_cleanup.run_id);
begin
  begin
    perform from pgjobs.unignore_task(v_task, unignore_cleanup.actor, unignore_cleanup.reason);
  exception when sqlstate 'PJ006' then
    perform pgjobs._refuse_cleanup_step(v_task, 'unignore', 'ignored');
  end;
  return query select c.* from pgjobs.incomplete_cleanup_tasks as c where c.task_id = v_task;
end
$$;

comment on function pgjobs.unignore_cleanup is
  'Stops ignoring a cleanup. Example: select status from pgjobs.unignore_cleanup(''<run id>'', actor => current_user)';
