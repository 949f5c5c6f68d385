-- Tasks carry the trace they were submitted from, so that their run is part of it:
-- W3C's traceparent, then tracestate, if any, after a space.
alter table tasks add column trace_context text;

drop trigger bodies_never_change;
create trigger bodies_never_change before update of
  id, job_id, room, priority, max_attempts, created_at, submitter, owner, project, tags, idempotency_key, payload,
  trace_context
on tasks begin
  select raise(abort, 'What a task was submitted with never changes');
end;
