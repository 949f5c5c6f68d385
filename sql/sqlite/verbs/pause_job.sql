-- pause_job(job text, actor text = null, reason text = null)
--
-- Pauses a job: its tasks are not claimed; tasks are still accepted and leases run on.
select :job as v_address;
-- include find_job
update jobs set paused_at = coalesce(paused_at, now()) where id = :v_job;
insert into events (at, kind, job_id, room, actor, message)
select now(), 'job_paused', j.id, j.room, :actor, redact_line(:reason) from jobs as j where j.id = :v_job;
select v.* from job as v where v.id = :v_job;
