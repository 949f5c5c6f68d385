-- One task in the words of the generic job manager, by number or public id.
create function pgjobs.get_generic_job(task_id bigint default null, task_uuid uuid default null)
returns setof pgjobs.generic_jobs
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
as $$
begin
  return query
  select g.*
  from pgjobs.generic_jobs as g
  where g.id = coalesce(get_generic_job.task_id, pgjobs.task_id(get_generic_job.task_uuid));
  if not found then
    perform pgjobs.refuse('task-not-found',
      format('Task %s does not exist', coalesce(get_generic_job.task_id::text, get_generic_job.task_uuid::text)));
  end if;
end
$$;

comment on function pgjobs.get_generic_job is
  'One task in the generic manager''s words. Example: select status, payload, result from pgjobs.get_generic_job(42)';
