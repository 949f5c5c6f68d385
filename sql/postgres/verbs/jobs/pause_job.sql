-- Pauses a job: its tasks are not claimed; tasks are still accepted and leases run on. The reason is
-- shown until the job is resumed.
create function pgjobs.pause_job(job text, actor text default null, reason text default null)
returns setof pgjobs.job
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job pgjobs.jobs := pgjobs._find_job(pause_job.job);
begin
  update pgjobs.jobs as j
  set
    paused_at = coalesce(j.paused_at, pgjobs._now()),
    pause_reason = coalesce(pgjobs._redact_line(nullif(pause_job.reason, '')), j.pause_reason)
  where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs._now(), 'job_paused', v_job.id, v_job.room, pause_job.actor, pgjobs._redact_line(pause_job.reason));
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

comment on function pgjobs.pause_job is
  'Pauses a job: its tasks are not claimed. Example: select * from pgjobs.pause_job(''@global:modifiers:Rotate'')';
