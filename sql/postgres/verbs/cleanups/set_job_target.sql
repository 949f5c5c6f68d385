-- Says where the runs of a job write, so that what incomplete ones leave behind
-- can be removed; without a target, that is taken back. Runs that have started
-- keep what they were told.
create function pgjobs.set_job_target(
  job text, target jsonb default null, node_id text default 'hub', actor text default null
)
returns table (job_name text, node text, job_target jsonb)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs._find_job(set_job_target.job);
begin
  if set_job_target.target is not null then
    perform pgjobs._check_target(set_job_target.target, set_job_target.node_id);
  end if;
  if v_job.id = pgjobs._cleanup_job() then
    perform pgjobs._refuse('validation-error', 'The cleanup job has no target of its own');
  end if;
  insert into pgjobs.targets (job_id, node_id, target)
  values (v_job.id, set_job_target.node_id, set_job_target.target)
  on conflict (job_id) do update set node_id = excluded.node_id, target = excluded.target;
  insert into pgjobs.events (at, kind, job_id, room, actor, fields)
  values (
    pgjobs._now(), 'job_target_set', v_job.id, v_job.room, set_job_target.actor,
    jsonb_build_object('node_id', set_job_target.node_id, 'target', set_job_target.target)
  );
  return query select v_job.full_name, g.node_id, g.target from pgjobs.targets as g where g.job_id = v_job.id;
end
$$;

comment on function pgjobs.set_job_target is
  'Sets where the runs of a job write. Example: select * from pgjobs.set_job_target(''lab:backups:nightly'', ''{"type": "local_dir", "base_dir": "/srv/backups"}'')';
