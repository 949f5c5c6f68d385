-- Puts :v_changing in line from scratch: due now, no attempts used.
update tasks
set
  status = 'pending',
  is_ready = true,
  updated_at = now(),
  due_at = now(),
  attempt = 0,
  token = null,
  worker_id = null,
  holder = null,
  claimed_at = null,
  started_at = null,
  ended_at = null,
  error = null,
  error_kind = null,
  reason = null,
  actor = null
where tasks.id in (select c.value from json_each(:v_changing) as c);
