-- Submits tasks that belong together, in one transaction: entries {"name", "job", "payload",
-- "after", "on_failure", "priority", "max_attempts"}, of which only `job` is needed. `after` names
-- earlier entries, or numbers or public ids of existing tasks. Rows come in the order of entries.
create function pgjobs.submit_workflow(
  name text,
  tasks jsonb,
  room text default null,
  submitter text default null,
  owner text default null,
  project text default null,
  tags text[] default null,
  trace_context text default null,
  require_workers boolean default false,
  cross_room boolean default false
)
returns table (workflow_id bigint, workflow_uuid uuid, task_name text, task_id bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_entries record;
  v_group record;
  v_flow pgjobs.workflows;
  v_ids bigint[];
  v_id bigint;
  v_place integer;
begin
  perform pgjobs._check_step_name(submit_workflow.name, 'workflow');
  select
    array_agg(e.name order by e.place) as names, array_agg(e.after order by e.place) as after,
    array_agg(e.on_failure order by e.place) as on_failure,
    coalesce(submit_workflow.room, (pgjobs._find_job((array_agg(e.job order by e.place))[1])).room) as room
  into v_entries
  from pgjobs._workflow_entries(submit_workflow.tasks) as e;
  perform pgjobs._check_names(v_entries.names);
  v_ids := array_fill(null::bigint, array[cardinality(v_entries.names)]);
  for v_group in
    select
      e.job, e.priority, e.max_attempts, e.after is not null as is_child, array_agg(e.payload order by e.place) as payloads,
      array_agg(e.place order by e.place) as places
    from pgjobs._workflow_entries(submit_workflow.tasks) as e
    group by e.job, e.priority, e.max_attempts, e.after is not null
    order by e.after is not null, min(e.place)
  loop
    for v_id, v_place in
      select s.task_id, v_group.places[s.place]
      from pgjobs.submit_tasks(
        job => v_group.job, payloads => v_group.payloads, room => v_entries.room, priority => v_group.priority,
        max_attempts => v_group.max_attempts, submitter => submit_workflow.submitter, owner => submit_workflow.owner,
        project => submit_workflow.project, tags => submit_workflow.tags, trace_context => submit_workflow.trace_context,
        available_at => case when v_group.is_child then pgjobs._never() end,
        require_workers => submit_workflow.require_workers, cross_room => submit_workflow.cross_room
      ) with ordinality as s (task_id, is_new, place)
    loop
      v_ids[v_place] := v_id;
    end loop;
  end loop;
  insert into pgjobs.workflows (name, room, created_at, submitter)
  values (submit_workflow.name, v_entries.room, v_now, pgjobs._actor(submit_workflow.submitter))
  returning * into v_flow;
  insert into pgjobs.workflow_tasks (workflow_id, task_id, name)
  select v_flow.id, t.id, t.name from unnest(v_ids, v_entries.names) as t (id, name);
  if num_nonnulls(variadic v_entries.after) > 0 then
    perform pgjobs._block_workflow(v_ids, v_entries.names, v_entries.after, v_entries.on_failure, v_now);
  end if;
  return query select v_flow.id, v_flow.uuid, t.name, t.id from unnest(v_ids, v_entries.names) as t (id, name);
end
$$;

comment on function pgjobs.submit_workflow is
  'Submits tasks that belong together. Example: select * from pgjobs.submit_workflow(''nightly'', ''[{"name": "a", "job": "@global:reports:Fetch"}, {"name": "b", "job": "@global:reports:Merge", "after": ["a"]}]'')';
