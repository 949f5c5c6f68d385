-- archive_job(job text, actor text = null, reason text = null)
--
-- Puts a job away: it refuses tasks, yields none and is hidden from lists; history stays.
select :job as v_address;
-- include find_job
update jobs set archived_at = coalesce(archived_at, now()) where id = :v_job;
insert into events (at, kind, job_id, room, actor, message)
select now(), 'job_archived', j.id, j.room, :actor, redact_line(:reason) from jobs as j where j.id = :v_job;
select v.* from job as v where v.id = :v_job;
