-- acquire_generic_jobs(
--   domain text, queue text, worker_id text, lease interval, quantity integer = 1, owner_user_id text = null,
--   project_id bigint = null, job_type text = null, max_inflight integer = null
-- )
-- Leases up to `quantity` due tasks of a domain and queue to a holder known by name, and shows
-- them in the words of the generic job manager. Ends lapsed leases as it goes.
select refuse('not-on-sqlite', 'SQLite has no quotas') where :max_inflight is not null;
select refuse('validation-error', 'worker_id must have 1 to 200 characters')
where length(:worker_id) not between 1 and 200;
select (select json_group_array(id) from jobs where room = :domain and category = :queue and name = :job_type) as v_named;
select iif(:job_type is null, null, :v_named) as v_jobs, 'leases' as v_step,
  100 as v_most, true as v_start, cast(:project_id as text) as v_project;
-- call claim_tasks(
--   quantity => :quantity, job_ids => :v_jobs, lease => :lease, in_room => :domain, in_category => :queue, of_owner => :owner_user_id,
--   of_project => :v_project, holder => :worker_id, start => :v_start
-- ) into v_claimed
-- call sweep(step => :v_step, batch => :v_most) into v_swept
select json_group_array(json_extract(c.value, '$.task_id')) as v_tasks, true as v_is_claimed from json_each(:v_claimed) as c;
-- include show_generic_jobs
