-- The entries of a workflow as they were written, one row each; refuses what cannot be.
create function pgjobs._workflow_entries(tasks jsonb)
returns table (
  place integer, name text, job text, payload jsonb, priority integer, max_attempts integer, on_failure text, after jsonb
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_most integer := (select s.max_steps from pgjobs.settings as s);
  v_wrong text;
begin
  if jsonb_typeof(_workflow_entries.tasks) is distinct from 'array'
    or jsonb_array_length(_workflow_entries.tasks) not between 1 and v_most
  then
    perform pgjobs._refuse('validation-error', format('The tasks of a workflow are an array of 1 to %s entries', v_most));
  end if;
  select format('Entry %s: %s.', e.place, case
    when jsonb_typeof(e.entry) <> 'object' then 'it is not an object'
    when jsonb_typeof(e.entry -> 'job') is distinct from 'string' then 'job must be a string'
    when e.entry - array['name', 'job', 'payload', 'priority', 'max_attempts', 'on_failure', 'after'] <> '{}' then
      'only name, job, payload, priority, max_attempts, on_failure and after are known'
    when coalesce(jsonb_typeof(e.entry -> 'name'), 'string') <> 'string' then 'name must be a string'
    when coalesce(jsonb_typeof(e.entry -> 'after'), 'array') <> 'array' then 'after must be an array'
    when coalesce(e.entry ->> 'priority', '5') !~ '^[0-9]{1,5}$' then 'priority must be a number'
    when coalesce(e.entry ->> 'max_attempts', '1') !~ '^[0-9]{1,5}$' then 'max_attempts must be a number'
    when coalesce(e.entry ->> 'on_failure', 'run') not in ('cancel', 'run', 'hold') then 'on_failure must be cancel, run or hold'
  end)
  into v_wrong
  from jsonb_array_elements(_workflow_entries.tasks) with ordinality as e (entry, place)
  where jsonb_typeof(e.entry) <> 'object'
    or jsonb_typeof(e.entry -> 'job') is distinct from 'string'
    or e.entry - array['name', 'job', 'payload', 'priority', 'max_attempts', 'on_failure', 'after'] <> '{}'
    or coalesce(jsonb_typeof(e.entry -> 'name'), 'string') <> 'string'
    or coalesce(jsonb_typeof(e.entry -> 'after'), 'array') <> 'array'
    or coalesce(e.entry ->> 'priority', '5') !~ '^[0-9]{1,5}$'
    or coalesce(e.entry ->> 'max_attempts', '1') !~ '^[0-9]{1,5}$'
    or coalesce(e.entry ->> 'on_failure', 'run') not in ('cancel', 'run', 'hold')
  limit 1;
  if v_wrong is not null then
    perform pgjobs._refuse('validation-error', 'An entry of the workflow cannot be', v_wrong);
  end if;
  return query
  select
    e.place::integer, coalesce(e.entry ->> 'name', 'task-' || e.place), e.entry ->> 'job', coalesce(e.entry -> 'payload', '{}'),
    coalesce((e.entry ->> 'priority')::integer, 5), (e.entry ->> 'max_attempts')::integer,
    coalesce(e.entry ->> 'on_failure', 'cancel'), nullif(e.entry -> 'after', '[]')
  from jsonb_array_elements(_workflow_entries.tasks) with ordinality as e (entry, place);
end
$$;

comment on function pgjobs._workflow_entries is
  'The entries of a workflow. Example: select * from pgjobs._workflow_entries(''[{"job": "@global:reports:Fetch"}]'')';

-- Which entry runs after which: `parent` is the place of an earlier entry, `task_id` an
-- existing task, by its number or public id; 0 for an id of none. Refuses names of no earlier
-- entry, so no cycle can be written.
create function pgjobs._workflow_edges(names text[], after jsonb[])
returns table (child integer, parent integer, task_id bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_id constant text := '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
  v_wrong text;
begin
  select format('%s names %s', quote_literal(n.name), a.entry) into v_wrong
  from unnest(_workflow_edges.names, _workflow_edges.after) with ordinality as n (name, after, place)
  cross join lateral jsonb_array_elements(n.after) as a (entry)
  left join unnest(_workflow_edges.names) with ordinality as p (name, place)
    on jsonb_typeof(a.entry) = 'string' and p.name = a.entry #>> '{}' and p.place < n.place
  where p.place is null and case jsonb_typeof(a.entry)
    when 'number' then a.entry #>> '{}' !~ '^[0-9]{1,18}$'
    when 'string' then a.entry #>> '{}' !~ v_id
    else true
  end
  limit 1;
  if v_wrong is not null then
    perform pgjobs._refuse('validation-error', 'after must name earlier entries of the workflow, or numbers or ids of tasks', v_wrong || '.');
  end if;
  return query
  select distinct
    n.place::integer, p.place::integer,
    case
      when p.place is not null then null
      when jsonb_typeof(a.entry) = 'number' then (a.entry #>> '{}')::bigint
      else coalesce(pgjobs.task_id((a.entry #>> '{}')::uuid), 0)
    end
  from unnest(_workflow_edges.names, _workflow_edges.after) with ordinality as n (name, after, place)
  cross join lateral jsonb_array_elements(n.after) as a (entry)
  left join unnest(_workflow_edges.names) with ordinality as p (name, place)
    on jsonb_typeof(a.entry) = 'string' and p.name = a.entry #>> '{}' and p.place < n.place;
end
$$;

comment on function pgjobs._workflow_edges is
  'Which entry of a workflow runs after which. Example: select * from pgjobs._workflow_edges(array[''a'', ''b''], array[null, ''["a"]'']::jsonb[])';

-- Blocks the new tasks of a workflow behind their parents, which may be new as well.
create function pgjobs._block_workflow(task_ids bigint[], names text[], after jsonb[], on_failure text[], now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_first bigint := (select min(i.id) from unnest(_block_workflow.task_ids) as i (id));
  v_missing bigint;
  v_old bigint[];
begin
  perform pgjobs._require_read_committed('Workflows with dependencies are submitted');
  perform pgjobs._use_dependencies();
  insert into pgjobs.dependencies (task_id, after_id, kind, name, place, on_failure)
  select
    _block_workflow.task_ids[e.child], coalesce(_block_workflow.task_ids[e.parent], e.task_id), 'parent',
    coalesce(_block_workflow.names[e.parent], e.task_id::text),
    row_number() over (partition by e.child order by e.parent, e.task_id), _block_workflow.on_failure[e.child]
  from pgjobs._workflow_edges(_block_workflow.names, _block_workflow.after) as e;
  -- A number that this very workflow was given is no earlier task: it would be a way to write a cycle.
  v_missing := (
    select e.task_id from pgjobs._workflow_edges(_block_workflow.names, _block_workflow.after) as e
    where e.task_id is not null and (e.task_id >= v_first or not exists (
      select from pgjobs.tasks as t where t.id = any (pgjobs._tasks_in_reach(array[e.task_id])) and t.id = e.task_id
    ))
    limit 1
  );
  if v_missing is not null then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', v_missing), 'It is named in after.');
  end if;
  -- By the newest of its parents: one that is new cannot be ending unseen.
  update pgjobs.scheduled as s
  set waits_for = 'parents', blocked_by = b.after_id
  from (
    select d.task_id, max(d.after_id) as after_id
    from pgjobs.dependencies as d
    where d.task_id = any (_block_workflow.task_ids)
    group by d.task_id
  ) as b
  where s.task_id = b.task_id;
  v_old := array(
    select s.task_id from pgjobs.scheduled as s where s.task_id = any (_block_workflow.task_ids) and s.blocked_by < v_first
  );
  perform pgjobs._recheck_later(v_old);
  -- Only a further statement sees what has ended since.
  perform pgjobs._settle(pgjobs._lock_waiting(v_old), _block_workflow.now);
end
$$;

comment on function pgjobs._block_workflow is
  'Blocks the new tasks of a workflow behind their parents. Example: see pgjobs.submit_workflow, which submitted them';

-- The workflow of a number or public id, if the caller may see it.
create function pgjobs._find_workflow(workflow_id bigint, workflow_uuid uuid)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint := (
    select f.id from pgjobs.workflows as f
    where (f.id = _find_workflow.workflow_id or (_find_workflow.workflow_id is null and f.uuid = _find_workflow.workflow_uuid))
      and (v_rooms is null or f.room = any (v_rooms))
  );
begin
  if v_id is null then
    perform pgjobs._refuse('workflow-not-found',
      format('Workflow %s does not exist', coalesce(_find_workflow.workflow_id::text, _find_workflow.workflow_uuid::text)),
      'It never was, or retention removed its tasks.');
  end if;
  return v_id;
end
$$;

comment on function pgjobs._find_workflow is
  'The number of a workflow. Example: select pgjobs._find_workflow(7, null)';

create function pgjobs._check_names(names text[])
returns void
language plpgsql stable
as $$
declare
  v_twice text := (select n.name from unnest(_check_names.names) as n (name) group by n.name having count(*) > 1 limit 1);
begin
  if v_twice is not null then
    perform pgjobs._refuse('validation-error', format('Two tasks of the workflow are called %s', quote_literal(left(v_twice, 200))));
  end if;
  if exists (select from unnest(_check_names.names) as n (name) where n.name = '' or length(n.name) > 200) then
    perform pgjobs._refuse('validation-error', 'The name of a task in a workflow has 1 to 200 characters');
  end if;
end
$$;

comment on function pgjobs._check_names is
  'Refuses names of tasks that cannot be in one workflow. Example: select pgjobs._check_names(array[''a'', ''b''])';
