-- Removes a job for good, with its tasks, their history and their cleanup tasks,
-- a bounded batch at a time: call it until it says is_done. The first call puts
-- the job away, so that nothing new comes meanwhile. With `dry_run` it only tells
-- how many tasks would go.
create function pgjobs.delete_job(
  job text, actor text default null, reason text default null, batch integer default 10000, dry_run boolean default false
)
returns table (removed integer, is_done boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_job pgjobs.jobs := pgjobs._find_job(delete_job.job);
  v_tasks bigint[];
begin
  if delete_job.batch is null or delete_job.batch not between 1 and 100000 then
    perform pgjobs._refuse('validation-error', 'batch must be between 1 and 100000');
  end if;
  if v_job.room = '@internal' then
    perform pgjobs._refuse('job-unavailable', format('Job %s is @internal', v_job.full_name), null, 'Archive it instead.');
  end if;
  if delete_job.dry_run then
    removed := cardinality(pgjobs._some_tasks_of(v_job.id, 2147483647));
    is_done := true;
    return next;
    return;
  end if;
  update pgjobs.jobs as j
  set archived_at = coalesce(j.archived_at, v_now), deleted_at = coalesce(j.deleted_at, v_now)
  where j.id = v_job.id;
  -- First, so that the task of a run in flight is among those found.
  delete from pgjobs.schedules as s where s.job_id = v_job.id;
  v_tasks := pgjobs._some_tasks_of(v_job.id, delete_job.batch);
  removed := cardinality(v_tasks);
  is_done := removed < delete_job.batch;
  perform pgjobs._remove_tasks(v_tasks || array(
    select s.cleanup_id from pgjobs.run_targets as s where s.task_id = any (v_tasks) and s.cleanup_id is not null
  ));
  if is_done then
    delete from pgjobs.worker_jobs as w where w.job_id = v_job.id;
    delete from pgjobs.lanes as l where l.job_id = v_job.id;
    perform pgjobs._forget_keys(v_job.id);
    delete from pgjobs.jobs as j where j.id = v_job.id;
    insert into pgjobs.events (at, kind, room, actor, message, fields)
    values (
      v_now, 'job_deleted', v_job.room, delete_job.actor, pgjobs._redact_line(delete_job.reason),
      jsonb_build_object('job', v_job.full_name, 'job_id', v_job.uuid)
    );
  end if;
  return next;
end
$$;

comment on function pgjobs.delete_job is
  'Removes a job and its history for good. Example: select * from pgjobs.delete_job(''lab:backups:nightly'', dry_run => true)';
