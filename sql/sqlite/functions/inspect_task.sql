-- inspect_task(task_uuid uuid)
--
-- One task as the console shows it, with its payload, its result and its place in line.
-- include find_task
select json_array(:v_task) as v_found;
-- include seen_tasks
select
  json_extract(:v_documents, '$[0]') as document,
  a.payload,
  iif((select c.show_secrets from settings as c), a.result, redact_document(a.result)) as result,
  iif(json_extract(:v_documents, '$[0].status') = 'pending', a.queue_position, null) as queue_position
from task_answer as a
where a.id = :v_task;
