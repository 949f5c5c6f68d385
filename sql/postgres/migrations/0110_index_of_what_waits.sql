-- runs: outside a transaction
create index concurrently if not exists scheduled_that_waits on pgjobs.scheduled (job_id, waits_for) where waits_for is not null;
