-- register_worker(name text = null, jobs text[] = null, actor text = null, worker_id uuid = null)
--
-- Registers a worker, and links it to jobs that exist already.
select refuse('not-on-sqlite', 'SQLite has no clusters') where :worker_id is not null;
select refuse('validation-error', 'A worker''s name has at most 200 characters')
where length(:name) > 200;
select uuid4() as v_worker, coalesce(:jobs, '[]') as v_addresses;
-- include find_jobs
insert into workers (id, name, owner, registered_at, last_heartbeat_at)
values (:v_worker, :name, :actor, now(), now());
insert into worker_jobs (worker_id, job_id)
select distinct :v_worker, j.value from json_each(:v_jobs_found) as j;
select w.* from workers as w where w.id = :v_worker;
