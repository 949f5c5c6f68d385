-- Takes an archived job out again; what waited goes on waiting in its place.
create function pgjobs.unarchive_job(job text, actor text default null, reason text default null)
returns setof pgjobs.job
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job pgjobs.jobs := pgjobs._find_job(unarchive_job.job);
begin
  update pgjobs.jobs as j set archived_at = null where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs._now(), 'job_unarchived', v_job.id, v_job.room, unarchive_job.actor, pgjobs._redact_line(unarchive_job.reason));
  perform pgjobs._wake(v_job.id, 100);
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

comment on function pgjobs.unarchive_job is
  'Restores an archived job. Example: select * from pgjobs.unarchive_job(''@global:modifiers:Rotate'')';
