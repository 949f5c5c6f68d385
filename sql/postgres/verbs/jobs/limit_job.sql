-- Limits how many tasks of a job may be claimed or running at once, wherever; without
-- a number, any. What runs already is counted and goes on.
create function pgjobs.limit_job(
  job text, max_running integer default null, actor text default null, reason text default null
)
returns setof pgjobs.job
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs._find_job(limit_job.job);
begin
  perform pgjobs._check_limit(limit_job.max_running);
  update pgjobs.jobs as j set max_running = limit_job.max_running where j.id = v_job.id;
  perform pgjobs._count_unlimited();
  insert into pgjobs.events (at, kind, job_id, room, actor, message, fields)
  values (
    pgjobs._now(), 'job_limited', v_job.id, v_job.room, limit_job.actor, pgjobs._redact_line(limit_job.reason),
    jsonb_build_object('max_running', limit_job.max_running)
  );
  perform pgjobs._wake(v_job.id, 100);
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

comment on function pgjobs.limit_job is
  'Limits how many tasks of a job run at once. Example: select * from pgjobs.limit_job(''@global:modifiers:Rotate'', 3)';
