-- runs: outside a transaction
create index concurrently if not exists ready_of_a_key
on pgjobs.ready (job_id, key, place, task_id) where key is not null;

create index concurrently if not exists scheduled_of_a_key
on pgjobs.scheduled (job_id, key, task_id) where key is not null;

-- Instead of the one without a key, so that leases of jobs without a limit pay for none.
create index concurrently if not exists leases_with_a_limit
on pgjobs.leases (job_id, key) where is_limited;

drop index concurrently if exists pgjobs.leases_of_limited_jobs;

create index concurrently if not exists jobs_that_share
on pgjobs.jobs (id) where is_shared;

create index concurrently if not exists key_turns_of_a_key
on pgjobs.key_turns (job_id, key);

create index concurrently if not exists unique_tasks_in_time
on pgjobs.unique_tasks (expires_at);
