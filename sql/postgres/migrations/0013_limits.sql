-- Limits: how many tasks of a job may be claimed or running at once, wherever.

alter table pgjobs.jobs
add column max_running integer,
add constraint limits_are_possible check (max_running between 1 and 1000000);
comment on column pgjobs.jobs.max_running is 'How many of its tasks may be claimed or running at once; empty: any number.';
create index jobs_with_a_limit on pgjobs.jobs (id) where max_running is not null;

-- Only leases of limited jobs are in the index, so the others do not pay for it.
alter table pgjobs.leases add column is_limited boolean not null default false;
comment on column pgjobs.leases.is_limited is 'Whether it counts towards the limit of its job.';
create index leases_of_limited_jobs on pgjobs.leases (job_id) where is_limited;
