-- Soft-deletes a job by hand, under the same conditions as when its last worker
-- leaves: nobody serves it and nothing waits. A job to keep goes too. Registering
-- it brings it back.
create function pgjobs.retire_job(job text, actor text default null, reason text default null)
returns setof pgjobs.job
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job pgjobs.jobs := pgjobs._find_job(retire_job.job);
begin
  if v_job.deleted_at is null and pgjobs._retire_orphans(array[v_job.id], pgjobs._now(), even_kept => true) = 0 then
    perform pgjobs._refuse('job-unavailable', format('Job %s is still in use', v_job.full_name),
      'It is @internal, a worker serves it, or tasks wait.', 'Archive it instead.');
  end if;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs._now(), 'job_retired', v_job.id, v_job.room, retire_job.actor, pgjobs._redact_line(retire_job.reason));
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

comment on function pgjobs.retire_job is
  'Hides a job that nobody uses. Example: select * from pgjobs.retire_job(''@global:modifiers:Rotate'')';
