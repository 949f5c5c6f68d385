-- submit_and_show(
--   job text, room text, payload jsonb = '{}', idempotency_key text = null, require_workers boolean = false,
--   cross_room boolean = false, actor text = null,
--   trace_context text = null, key text = null, after uuid[] = null, on_failure text = null
-- )
--
-- Submits one task and shows it as HTTP does.
select refuse('not-on-sqlite', 'Neither sharing by key nor dependencies are on SQLite')
where :key is not null or :after is not null or :on_failure is not null;
select
  json_array(:payload) as v_payloads,
  iif(:idempotency_key is null, null, json_array(:idempotency_key)) as v_keys;
call submit_tasks(
  job => :job, payloads => :v_payloads, room => :room, idempotency_keys => :v_keys, submitter => :actor,
  owner => :actor, require_workers => :require_workers, cross_room => :cross_room,
  trace_context => :trace_context
) into v_submitted;
select a.* from task_answer as a where a.id = json_extract(:v_submitted, '$[0].task_id');
