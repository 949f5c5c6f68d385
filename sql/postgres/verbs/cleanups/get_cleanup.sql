-- The cleanup task of a run.
create function pgjobs.get_cleanup(run_id uuid)
returns setof pgjobs.incomplete_cleanup_tasks
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query select c.* from pgjobs._shown_cleanups(array[pgjobs._find_cleanup(get_cleanup.run_id)]) as c;
end
$$;

comment on function pgjobs.get_cleanup is
  'The cleanup task of a run. Example: select status, last_error from pgjobs.get_cleanup(''<run id>'')';
