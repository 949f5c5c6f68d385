-- Where the runs of a job write; no row when nobody said.
create function pgjobs.get_job_target(job text)
returns table (job_name text, node text, job_target jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs._find_job(get_job_target.job);
begin
  return query
  select v_job.full_name, g.node_id, pgjobs._redact_document(g.target)
  from pgjobs.targets as g
  where g.job_id = v_job.id and g.target is not null;
end
$$;

comment on function pgjobs.get_job_target is
  'Where the runs of a job write. Example: select * from pgjobs.get_job_target(''lab:backups:nightly'')';
