-- Puts a job away: it refuses tasks, yields none and is hidden from lists; history stays.
create function pgjobs.archive_job(job text, actor text default null, reason text default null)
returns setof pgjobs.job
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job pgjobs.jobs := pgjobs._find_job(archive_job.job);
begin
  update pgjobs.jobs as j set archived_at = coalesce(j.archived_at, pgjobs._now()) where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs._now(), 'job_archived', v_job.id, v_job.room, archive_job.actor, pgjobs._redact_line(archive_job.reason));
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

comment on function pgjobs.archive_job is
  'Archives a job. Example: select * from pgjobs.archive_job(''@global:modifiers:Rotate'')';
