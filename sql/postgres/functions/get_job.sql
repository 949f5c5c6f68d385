-- One job, also when it is archived or retired.
create function pgjobs.get_job(job text)
returns setof pgjobs.job
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query select v.* from pgjobs.job as v where v.id = (pgjobs.find_job(get_job.job)).id;
end
$$;

comment on function pgjobs.get_job is
  'One job by address, number or public id. Example: select * from pgjobs.get_job(''@global:modifiers:Rotate'')';
