-- delete_job(job text, actor text = null, reason text = null, batch integer = 10000, dry_run boolean = false)
--
-- Removes a job for good, with its tasks and their history, a bounded batch at a time: call
-- it until it says is_done. The first call puts the job away, so that nothing new comes meanwhile.
-- With `dry_run` it only tells how many tasks would go.
select refuse('validation-error', 'batch must be between 1 and 100000')
where :batch not between 1 and 100000;
select :job as v_address;
-- include find_job
select refuse('job-unavailable', 'Job ' || j.full_name || ' is @internal', null, 'Archive it instead.')
from jobs as j
where j.id = :v_job and j.room = '@internal';
update jobs
set archived_at = coalesce(archived_at, now()), deleted_at = coalesce(deleted_at, now())
where id = :v_job and not :dry_run;
select
  iif(:dry_run, '[]', json_group_array(json_array(t.id))) as v_pruned,
  count(*) as v_removed,
  count(*) < :batch and not :dry_run as v_is_done
from (select o.id from tasks as o where o.job_id = :v_job order by o.id limit iif(:dry_run, -1, :batch)) as t;
delete from events where task_id in (select json_extract(p.value, '$[0]') from json_each(:v_pruned) as p);
-- include remove_tasks
delete from worker_jobs where job_id = :v_job and :v_is_done;
delete from lanes where job_id = :v_job and :v_is_done;
insert into events (at, kind, room, actor, message, fields)
select now(), 'job_deleted', j.room, :actor, redact_line(:reason), json_object('job', j.full_name, 'job_id', j.uuid)
from jobs as j
where j.id = :v_job and :v_is_done;
delete from jobs where id = :v_job and :v_is_done;
select :v_removed as removed, :v_is_done or :dry_run as is_done;
