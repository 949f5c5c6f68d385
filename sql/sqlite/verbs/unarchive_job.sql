-- unarchive_job(job text, actor text = null, reason text = null)
--
-- Takes an archived job out again; what waited goes on waiting in its place.
select :job as v_address;
-- include find_job
update jobs set archived_at = null where id = :v_job;
insert into events (at, kind, job_id, room, actor, message)
select now(), 'job_unarchived', j.id, j.room, :actor, redact_line(:reason) from jobs as j where j.id = :v_job;
select v.* from job as v where v.id = :v_job;
