-- One task in the words of the generic job manager, by number or public id. With an
-- owner or a project named, only if it is theirs: another's does not exist for them.
create function pgjobs.get_generic_job(
  task_id bigint default null,
  task_uuid uuid default null,
  owner_user_id text default null,
  project_id bigint default null
)
returns setof pgjobs.generic_jobs
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select g.*
  from pgjobs.generic_jobs as g
  where g.id = coalesce(get_generic_job.task_id, pgjobs.task_id(get_generic_job.task_uuid))
    and (get_generic_job.owner_user_id is null or g.owner_user_id = get_generic_job.owner_user_id)
    and (get_generic_job.project_id is null or g.project_id = get_generic_job.project_id);
  if not found then
    perform pgjobs._refuse('task-not-found',
      format('Job %s does not exist', coalesce(get_generic_job.task_id::text, get_generic_job.task_uuid::text)));
  end if;
end
$$;

comment on function pgjobs.get_generic_job is
  'One task in the generic manager''s words. Example: select status, payload, result from pgjobs.get_generic_job(42)';
