-- Ends :v_ending as cancelled by :actor, for :v_reason.
update tasks
set
  status = 'cancelled',
  ended_at = now(),
  reason = coalesce(:v_reason, reason),
  actor = :actor,
  is_ready = false,
  due_at = null,
  until = null,
  error = null,
  error_kind = null,
  progress = null,
  cancel_requested_at = null
where id in (select c.value from json_each(:v_ending) as c);
