-- The tasks of a workflow in order of number, with their results. `after` is the number of the
-- last one seen, for the next page.
create function pgjobs.list_workflow_tasks(
  workflow_id bigint default null, workflow_uuid uuid default null, after bigint default null, page_size integer default 500
)
returns table (
  name text, task_id bigint, task_uuid uuid, job text, status text, phase text, result jsonb, error text, reason text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_id bigint := pgjobs._find_workflow(list_workflow_tasks.workflow_id, list_workflow_tasks.workflow_uuid);
begin
  perform pgjobs._check_page(list_workflow_tasks.page_size, 0);
  return query
  select w.name, w.task_id, v.uuid, v.job, v.status, v.phase, o.result, v.error, v.reason
  from (
    select k.task_id, k.name from pgjobs.workflow_tasks as k
    where k.workflow_id = v_id and k.task_id > coalesce(list_workflow_tasks.after, 0)
    order by k.task_id
    limit list_workflow_tasks.page_size
  ) as w
  join pgjobs.task as v on v.id = w.task_id
  left join pgjobs.outcomes as o on o.task_id = w.task_id
  order by w.task_id;
end
$$;

comment on function pgjobs.list_workflow_tasks is
  'The tasks of a workflow. Example: select name, status, result from pgjobs.list_workflow_tasks(7)';
