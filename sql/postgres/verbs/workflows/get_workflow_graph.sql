-- A workflow as a graph, for whoever draws it: `nodes` and `edges` of its first `most` tasks,
-- and how many were left off; edges are pairs of numbers, parent and child. A node says which
-- `signal` it waits for. Results are not part of it.
create function pgjobs.get_workflow_graph(workflow_id bigint default null, workflow_uuid uuid default null, most integer default 1000)
returns table (document jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_id bigint := pgjobs._find_workflow(get_workflow_graph.workflow_id, get_workflow_graph.workflow_uuid);
  v_shown bigint[];
begin
  if most is null or most not between 1 and 5000 then
    perform pgjobs._refuse('validation-error', 'most must be between 1 and 5000', format('Got %s.', most));
  end if;
  v_shown := array(
    select w.task_id from pgjobs.workflow_tasks as w where w.workflow_id = v_id order by w.task_id limit get_workflow_graph.most
  );
  return query
  select to_jsonb(f) || jsonb_build_object(
    'nodes', (
      select jsonb_agg(jsonb_build_object(
        'id', v.id, 'uuid', v.uuid, 'name', w.name, 'job', v.job, 'status', v.status, 'phase', v.phase,
        'started_at', v.started_at, 'ended_at', v.ended_at, 'attempt', v.attempt, 'until', v.due_at,
        'error', left(split_part(coalesce(v.error, v.reason), E'\n', 1), 200), 'signal', s.signal
      ) order by v.id)
      from pgjobs.task as v
      join pgjobs.workflow_tasks as w on w.workflow_id = v_id and w.task_id = v.id
      left join pgjobs.scheduled as s on s.task_id = v.id and s.waits_for = 'signal'
      where v.id = any (v_shown)
    ),
    'edges', (
      select coalesce(jsonb_agg(jsonb_build_array(d.after_id, d.task_id) order by d.after_id, d.task_id), '[]')
      from pgjobs.dependencies as d
      where d.task_id = any (v_shown) and d.after_id = any (v_shown) and d.kind = 'parent'
    ),
    'left_off', f.tasks - cardinality(v_shown)
  )
  from pgjobs.workflow as f
  where f.id = v_id;
end
$$;

comment on function pgjobs.get_workflow_graph is
  'A workflow as a graph. Example: select document -> ''edges'' from pgjobs.get_workflow_graph(7)';
