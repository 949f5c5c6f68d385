-- retire_job(job text, actor text = null, reason text = null)
--
-- Soft-deletes a job by hand, under the same conditions as when its last worker
-- leaves: nobody serves it and nothing waits. A job to keep goes too. Registering
-- it brings it back.
select :job as v_address;
-- include find_job
select json_array(:v_job) as v_left_jobs, :v_job as v_unkept;
-- include retire_orphans
select refuse(
  'job-unavailable', 'Job ' || j.full_name || ' is still in use',
  'It is @internal, a worker serves it, or tasks wait.', 'Archive it instead.'
)
from jobs as j
where j.id = :v_job and j.deleted_at is null;
insert into events (at, kind, job_id, room, actor, message)
select now(), 'job_retired', j.id, j.room, :actor, redact_line(:reason) from jobs as j where j.id = :v_job;
select v.* from job as v where v.id = :v_job;
