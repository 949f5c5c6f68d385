-- The clean-up task of a run.
create function pgjobs.get_cleanup(run_id uuid)
returns setof pgjobs.incomplete_cleanup_tasks
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_task bigint := pgjobs.find_cleanup(get_cleanup.run_id);
begin
  return query select c.* from pgjobs.incomplete_cleanup_tasks as c where c.task_id = v_task;
end
$$;

comment on function pgjobs.get_cleanup is
  'The clean-up task of a run. Example: select status, last_error from pgjobs.get_cleanup(''<run id>'')';
