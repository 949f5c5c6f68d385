-- One workflow, by number or public id.
create function pgjobs.get_workflow(workflow_id bigint default null, workflow_uuid uuid default null)
returns setof pgjobs.workflow
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_id bigint := pgjobs._find_workflow(get_workflow.workflow_id, get_workflow.workflow_uuid);
begin
  return query select f.* from pgjobs.workflow as f where f.id = v_id;
end
$$;

comment on function pgjobs.get_workflow is
  'One workflow. Example: select name, status, completed, tasks from pgjobs.get_workflow(7)';
