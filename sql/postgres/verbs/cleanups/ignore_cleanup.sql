-- Leaves what a run left behind where it is, until somebody unignores or retries
-- it; refused while it is being removed and when it is gone.
create function pgjobs.ignore_cleanup(run_id uuid, actor text default null, reason text default null)
returns setof pgjobs.incomplete_cleanup_tasks
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_task bigint := pgjobs._find_cleanup(ignore_cleanup.run_id);
begin
  begin
    perform from pgjobs.ignore_task(v_task, ignore_cleanup.actor, ignore_cleanup.reason);
  exception when sqlstate 'PJ006' then
    perform pgjobs._refuse_cleanup_step(v_task, 'ignore', 'queued, retrying, blocked and abandoned');
  end;
  return query select c.* from pgjobs.incomplete_cleanup_tasks as c where c.task_id = v_task;
end
$$;

comment on function pgjobs.ignore_cleanup is
  'Ignores a cleanup. Example: select status from pgjobs.ignore_cleanup(''<run id>'', current_user, ''the disk is gone'')';
