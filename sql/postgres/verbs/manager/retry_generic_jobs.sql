-- Has jobs run now, from the beginning: those that failed, those in quarantine, or those that
-- wait for their next attempt (`of_status` is failed, quarantined or queued). With `dry_run` it only
-- tells which.
create function pgjobs.retry_generic_jobs(
  of_status text,
  domain text default null,
  queue text default null,
  job_type text default null,
  owner_user_id text default null,
  task_ids bigint[] default null,
  most integer default 1000,
  dry_run boolean default false,
  actor text default null
)
returns table (task_id bigint, status text, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_tasks bigint[];
begin
  if retry_generic_jobs.of_status is null or retry_generic_jobs.of_status not in ('failed', 'quarantined', 'queued') then
    perform pgjobs._refuse('validation-error', 'status must be failed, quarantined or queued',
      format('Got %s.', quote_nullable(retry_generic_jobs.of_status)));
  end if;
  v_tasks := pgjobs._chosen_generic(
    retry_generic_jobs.domain, retry_generic_jobs.queue, retry_generic_jobs.job_type, retry_generic_jobs.of_status,
    retry_generic_jobs.owner_user_id, retry_generic_jobs.most,
    only_ids => retry_generic_jobs.task_ids, is_retrying => retry_generic_jobs.of_status = 'queued'
  );
  return query
  select r.task_id, r.status, r.problem
  from pgjobs.retry_tasks(v_tasks, actor => retry_generic_jobs.actor, dry_run => retry_generic_jobs.dry_run) as r;
end
$$;

comment on function pgjobs.retry_generic_jobs is
  'Has jobs run now. Example: select * from pgjobs.retry_generic_jobs(''failed'', ''chatbooks'', dry_run => true)';
