-- runs: outside a transaction
create index concurrently if not exists jobs_with_quarantine on pgjobs.jobs (id) where quarantine_after is not null;
create index concurrently if not exists ignored_in_quarantine on pgjobs.ignored (job_id) where is_quarantined;
