-- Starts the failed tasks of a workflow over, and brings back what was cancelled because of
-- them, to wait for its parents again. What completed is kept, and so is what somebody cancelled.
create function pgjobs.retry_workflow(
  workflow_id bigint default null, workflow_uuid uuid default null, actor text default null, reason text default null
)
returns setof pgjobs.workflow
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_now timestamptz := pgjobs._now();
  v_id bigint := pgjobs._find_workflow(retry_workflow.workflow_id, retry_workflow.workflow_uuid);
  v_back bigint[];
begin
  perform pgjobs._require_read_committed('Workflows are retried');
  v_back := array(
    select o.task_id from pgjobs._take_outcomes(array(
      select w.task_id from pgjobs.workflow_tasks as w
      join pgjobs.outcomes as o on o.task_id = w.task_id
      where w.workflow_id = v_id and (o.status = 'failed' or (o.status = 'cancelled' and o.error_kind = 'parent_failed'))
      order by w.task_id
    ), array['failed', 'cancelled']) as o
  );
  perform pgjobs._enter_lanes(v_back, v_now);
  perform pgjobs._record_actions(v_back, 'retried', 'pending', pgjobs._actor(retry_workflow.actor), retry_workflow.reason, v_now);
  return query select f.* from pgjobs.workflow as f where f.id = v_id;
end
$$;

comment on function pgjobs.retry_workflow is
  'Starts what failed of a workflow over. Example: select status from pgjobs.retry_workflow(7, actor => current_user)';
