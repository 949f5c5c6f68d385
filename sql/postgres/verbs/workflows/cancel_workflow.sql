-- Cancels what has not ended of a workflow, as cancel_tasks does: the holders of running tasks
-- are asked to stop, or with `force` lose them. Who is not a superuser cancels what they have
-- submitted themselves.
create function pgjobs.cancel_workflow(
  workflow_id bigint default null,
  workflow_uuid uuid default null,
  reason text default null,
  force boolean default false,
  actor text default null,
  is_superuser boolean default true
)
returns setof pgjobs.workflow
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_id bigint := pgjobs._find_workflow(cancel_workflow.workflow_id, cancel_workflow.workflow_uuid);
  v_left bigint[] := array(
    select w.task_id from pgjobs.workflow_tasks as w
    where w.workflow_id = v_id and not exists (select from pgjobs.outcomes as o where o.task_id = w.task_id)
    order by w.task_id
  );
begin
  if not cancel_workflow.is_superuser and (
    select f.submitter from pgjobs.workflows as f where f.id = v_id
  ) is distinct from cancel_workflow.actor then
    perform pgjobs._refuse('forbidden', 'A workflow is cancelled by who submitted it, or by a superuser');
  end if;
  for v_place in 1..cardinality(v_left) by 1000 loop
    perform from pgjobs.cancel_tasks(
      task_ids => v_left[v_place:v_place + 999], reason => cancel_workflow.reason, force => cancel_workflow.force,
      actor => cancel_workflow.actor
    );
  end loop;
  return query select f.* from pgjobs.workflow as f where f.id = v_id;
end
$$;

comment on function pgjobs.cancel_workflow is
  'Cancels what has not ended of a workflow. Example: select status from pgjobs.cancel_workflow(7, reason => ''no longer needed'')';
