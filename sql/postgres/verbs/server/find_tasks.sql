-- A task as the console shows it: by its public id and its number, with the actions it allows.
create function pgjobs._seen_task(task pgjobs.task)
returns jsonb
language sql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
  select to_jsonb(task) - 'job_id' - 'uuid'
    || jsonb_build_object('id', (task).uuid, 'number', (task).id, 'allows', pgjobs._allowed_steps((task).status, (task).phase))
    -- As text a time of another year is no time to whoever reads it.
    || jsonb_build_object(
      'created_at', pgjobs._known_moment((task).created_at),
      'due_at', pgjobs._known_moment((task).due_at),
      'claimed_at', pgjobs._known_moment((task).claimed_at),
      'started_at', pgjobs._known_moment((task).started_at),
      'ended_at', pgjobs._known_moment((task).ended_at),
      'until', pgjobs._known_moment((task).until),
      'cancel_requested_at', pgjobs._known_moment((task).cancel_requested_at)
    )
$$;

comment on function pgjobs._seen_task is
  'A task as the console shows it. Example: select pgjobs._seen_task(t) from pgjobs.task as t where t.id = 42';

-- A page of the newest tasks that fit every filter given, in one row: the tasks,
-- and `next`, the public id before which to go on. A page can be empty and still
-- have a next: a search for a text or an owner looks at a bounded number of tasks.
-- `looked` tells how many, and `looked_to` when the first of them was submitted.
create function pgjobs.find_tasks(
  room text default null,
  job text default null,
  status text default null,
  owner text default null,
  since timestamptz default null,
  until timestamptz default null,
  matching text default null,
  before uuid default null,
  page_size integer default 50,
  in_payloads boolean default false
)
returns table (found jsonb, next uuid, looked integer, looked_to timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids bigint[];
  v_next bigint;
  v_looked integer;
  v_oldest bigint;
begin
  perform pgjobs._check_page(find_tasks.page_size, 0);
  select f.ids, f.next, f.looked, f.oldest into v_ids, v_next, v_looked, v_oldest
  from pgjobs._found_tasks(
    find_tasks.room, find_tasks.job, find_tasks.status, find_tasks.owner, find_tasks.since, find_tasks.until,
    find_tasks.matching, pgjobs.task_id(find_tasks.before), find_tasks.page_size, find_tasks.in_payloads
  ) as f;
  return query
  select
    coalesce(jsonb_agg(pgjobs._seen_task(v) order by v.id desc), '[]'), pgjobs.task_uuid(v_next), v_looked,
    (select pgjobs._known_moment(o.created_at) from pgjobs.tasks as o where o.id = v_oldest)
  from pgjobs.task as v
  where v.id = any (v_ids);
end
$$;

comment on function pgjobs.find_tasks is
  'A page of tasks that fit some filters. Example: select next, jsonb_array_elements(found) ->> ''id'' from pgjobs.find_tasks(matching => ''refused'')';
