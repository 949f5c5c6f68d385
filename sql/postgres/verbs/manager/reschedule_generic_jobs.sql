-- Gives queued jobs another time: `available_at`, or their own time moved by `shift`. They keep
-- their attempts. Those that wait for other jobs are left alone. With `dry_run` it only tells.
create function pgjobs.reschedule_generic_jobs(
  domain text default null,
  queue text default null,
  job_type text default null,
  owner_user_id text default null,
  shift interval default null,
  available_at timestamptz default null,
  most integer default 1000,
  dry_run boolean default false,
  actor text default null
)
returns table (task_id bigint, run_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_tasks bigint[];
begin
  if num_nonnulls(reschedule_generic_jobs.shift, reschedule_generic_jobs.available_at) <> 1
    or not pgjobs._is_known_year(reschedule_generic_jobs.available_at)
    or reschedule_generic_jobs.shift not between interval '-100 years' and interval '100 years'
  then
    perform pgjobs._refuse('validation-error', 'Name a shift or a time for available_at, one of them');
  end if;
  v_tasks := pgjobs._chosen_generic(
    reschedule_generic_jobs.domain, reschedule_generic_jobs.queue, reschedule_generic_jobs.job_type, 'queued',
    reschedule_generic_jobs.owner_user_id, reschedule_generic_jobs.most, is_free => true
  );
  return query
  select m.task_id, m.available_at
  from pgjobs._move_pending(
    v_tasks, reschedule_generic_jobs.shift, reschedule_generic_jobs.available_at, reschedule_generic_jobs.dry_run,
    reschedule_generic_jobs.actor, v_now
  ) as m;
end
$$;

comment on function pgjobs.reschedule_generic_jobs is
  'Gives queued jobs another time. Example: select * from pgjobs.reschedule_generic_jobs(''chatbooks'', shift => ''1 hour'', dry_run => true)';
