-- Lets claims take from a paused job again.
create function pgjobs.resume_job(job text, actor text default null, reason text default null)
returns setof pgjobs.job
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job pgjobs.jobs := pgjobs._find_job(resume_job.job);
begin
  update pgjobs.jobs as j set paused_at = null, pause_reason = null where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs._now(), 'job_resumed', v_job.id, v_job.room, resume_job.actor, pgjobs._redact_line(resume_job.reason));
  perform pgjobs._wake(v_job.id, 100);
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

comment on function pgjobs.resume_job is
  'Resumes a paused job. Example: select * from pgjobs.resume_job(''@global:modifiers:Rotate'')';
