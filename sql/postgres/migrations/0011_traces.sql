-- Tasks carry the trace they were submitted from, so that their run is part of it.

alter table pgjobs.tasks add column if not exists trace_context text;
comment on column pgjobs.tasks.trace_context is
  'W3C trace context of its submit: traceparent, then tracestate, if any, after a space.';
