-- Submits one task and shows it as HTTP does. `after` are public ids of tasks that have to end
-- before it starts.
create function pgjobs.submit_and_show(
  job text,
  room text,
  payload jsonb default '{}',
  idempotency_key text default null,
  require_workers boolean default false,
  cross_room boolean default false,
  actor text default null,
  trace_context text default null,
  key text default null,
  after uuid[] default null,
  on_failure text default null
)
returns setof pgjobs.task_answer
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint;
  v_new boolean;
begin
  -- A statement of its own, so that the next one sees what it wrote.
  select s.task_id, s.is_new into v_id, v_new
  from pgjobs.submit_tasks(
    job => submit_and_show.job, payloads => array[submit_and_show.payload], room => submit_and_show.room,
    idempotency_keys => case when submit_and_show.idempotency_key is not null then array[submit_and_show.idempotency_key] end,
    submitter => submit_and_show.actor, owner => submit_and_show.actor,
    require_workers => submit_and_show.require_workers, cross_room => submit_and_show.cross_room,
    trace_context => submit_and_show.trace_context,
    keys => case when submit_and_show.key is not null then array[submit_and_show.key] end,
    -- What is nobody's id is task 0, which does not exist.
    after => case when submit_and_show.after is not null then array(
      select coalesce(pgjobs.task_id(i.id), 0) from unnest(submit_and_show.after) as i (id)
    ) end,
    on_failure => submit_and_show.on_failure
  ) as s;
  if not v_new or submit_and_show.after is not null then
    return query select a.* from pgjobs.task_answer as a where a.id = v_id;
    return;
  end if;
  -- What was just submitted is due since then, so its place in line needs no look for it.
  return query
  select
    t.id, pgjobs.task_uuid(t.id), j.full_name, t.room, 'pending', t.created_at, null::timestamptz, null::timestamptz,
    null::uuid, null::text, pgjobs._shown_payload(t.payload, (select c.show_secrets from pgjobs.settings as c)), null::jsonb,
    case when v_rooms is null or j.room = any (v_rooms) then least(a.quantity + 1, pgjobs._last_counted_place())::integer end
  from pgjobs.tasks as t
  join pgjobs.jobs as j on j.id = t.job_id
  cross join lateral (
    select count(*) as quantity
    from (
      select from pgjobs.ready as r
      where r.job_id = t.job_id and (r.priority, r.due_at, r.task_id) < (t.priority, t.created_at, t.id)
      limit pgjobs._last_counted_place()
    ) as f
  ) as a
  where t.id = v_id;
end
$$;

comment on function pgjobs.submit_and_show is
  'Submits a task and shows it as HTTP does. Example: select uuid from pgjobs.submit_and_show(''@global:modifiers:Rotate'', ''lab-7'')';
