-- Submits one task and shows it: submit_tasks for people.
create function pgjobs.submit_task(
  job text,
  payload jsonb default '{}',
  room text default null,
  priority integer default 5,
  available_at timestamptz default null,
  delay interval default null,
  max_attempts integer default null,
  idempotency_key text default null,
  submitter text default null,
  owner text default null,
  project text default null,
  tags text[] default null,
  trace_context text default null,
  after bigint[] default null,
  on_failure text default null,
  key text default null
)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_id bigint;
begin
  -- A statement of its own, so that the next one sees what it wrote.
  select s.task_id into v_id
  from pgjobs.submit_tasks(
    job => submit_task.job, payloads => array[submit_task.payload], room => submit_task.room,
    priority => submit_task.priority, available_at => submit_task.available_at, delay => submit_task.delay,
    max_attempts => submit_task.max_attempts,
    idempotency_keys => case when submit_task.idempotency_key is not null then array[submit_task.idempotency_key] end,
    submitter => submit_task.submitter, owner => submit_task.owner, project => submit_task.project,
    tags => submit_task.tags, trace_context => submit_task.trace_context,
    after => submit_task.after, on_failure => submit_task.on_failure,
    keys => case when submit_task.key is not null then array[submit_task.key] end
  ) as s;
  return query select t.* from pgjobs.task as t where t.id = v_id;
end
$$;

comment on function pgjobs.submit_task is
  'Submits one task and shows it. Example: select * from pgjobs.submit_task(''@global:modifiers:Rotate'', ''{"angle": 90}'')';
