-- What a task has to do with others and with time, in one document for its page: its `steps`
-- (the newest two hundred) and `signals`, what it waits for, its `parents`, the tasks it
-- `called`, its `children` and its `workflow`. Of tasks the first hundred of each, and how
-- many there are; of those in rooms that the caller may not see, none.
create function pgjobs.show_flow(task_uuid uuid)
returns table (document jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint := pgjobs.task_id(show_flow.task_uuid);
  v_shows boolean := (select c.show_secrets from pgjobs.settings as c);
begin
  if not exists (
    select from pgjobs.tasks as t where t.id = v_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', show_flow.task_uuid));
  end if;
  return query
  select jsonb_build_object(
    'steps', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'number', s.number, 'name', s.name, 'kind', s.kind, 'is_done', s.is_done,
        'result', pgjobs._shown_payload(s.result, v_shows), 'until', pgjobs._known_moment(s.until),
        'saved_at', pgjobs._known_moment(s.saved_at)
      ) order by s.number), '[]')
      from (
        select k.* from pgjobs.steps as k where k.task_id = v_id order by k.number desc limit 200
      ) as s
    ),
    'step_count', (
      select coalesce(max(k.number), 0) from pgjobs.steps as k where k.task_id = v_id
    ),
    'signals', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'name', g.name, 'payload', pgjobs._shown_payload(g.payload, v_shows), 'sent_at', pgjobs._known_moment(g.sent_at),
        'sender', g.sender
      ) order by g.sent_at, g.name), '[]')
      from (
        select k.* from pgjobs.signals as k where k.task_id = v_id order by k.sent_at desc limit 100
      ) as g
    ),
    'waits_for', w.waits_for,
    'signal', w.signal,
    'until', case when w.waits_for is not null and w.run_at < pgjobs._never() then pgjobs._known_moment(w.run_at) end,
    'workflow', (
      select jsonb_build_object('id', f.uuid, 'number', f.id, 'name', f.name, 'task', k.name)
      from pgjobs.workflow_tasks as k
      join pgjobs.workflows as f on f.id = k.workflow_id
      where k.task_id = v_id
    ),
    'parents', pgjobs._shown_kin(array(
      select d.after_id from pgjobs.dependencies as d where d.task_id = v_id and d.kind = 'parent' order by d.place
    ), v_id, true),
    'called', pgjobs._shown_kin(array(
      select d.after_id from pgjobs.dependencies as d where d.task_id = v_id and d.kind = 'call' order by d.after_id
    ), v_id, true),
    'children', pgjobs._shown_kin(array(
      select d.task_id from pgjobs.dependencies as d where d.after_id = v_id order by d.task_id limit 10000
    ), v_id, false)
  )
  from (select) as one
  left join pgjobs.scheduled as w on w.task_id = v_id;
end
$$;

comment on function pgjobs.show_flow is
  'Steps, parents and children of a task in one document. Example: select document -> ''steps'' from pgjobs.show_flow(pgjobs.task_uuid(42))';
