-- Changes how a job is retried and recorded; what is left out keeps its value. Workers that
-- register the job with a policy of their own set it again when they start. After
-- `quarantine_after` attempts in a row whose worker was lost, or that failed with the same kind of
-- error, a task is quarantined; with 0 none is.
create function pgjobs.set_job_policy(
  job text,
  max_attempts integer default null,
  backoff_base interval default null,
  backoff_cap interval default null,
  events text default null,
  actor text default null,
  reason text default null,
  quarantine_after integer default null
)
returns setof pgjobs.job
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs._find_job(set_job_policy.job);
begin
  if set_job_policy.max_attempts not between 1 and 10000 then
    perform pgjobs._refuse('validation-error', 'max_attempts must be between 1 and 10000',
      format('Got %s.', set_job_policy.max_attempts));
  end if;
  if set_job_policy.events not in ('failures', 'full') then
    perform pgjobs._refuse('validation-error', 'events must be failures or full', format('Got %s.', set_job_policy.events));
  end if;
  if coalesce(set_job_policy.backoff_base, v_job.backoff_base) < interval '0'
    or coalesce(set_job_policy.backoff_cap, v_job.backoff_cap) < coalesce(set_job_policy.backoff_base, v_job.backoff_base)
    or coalesce(set_job_policy.backoff_cap, v_job.backoff_cap) > interval '1000 years'
  then
    perform pgjobs._refuse('validation-error', 'backoff_base must not be negative, and backoff_cap not less than backoff_base');
  end if;
  if set_job_policy.quarantine_after not between 0 and 10000 then
    perform pgjobs._refuse('validation-error', 'quarantine_after must be between 0 and 10000',
      format('Got %s.', set_job_policy.quarantine_after), 'With 0 no task of the job is quarantined.');
  end if;
  update pgjobs.jobs as j
  set
    quarantine_after = coalesce(set_job_policy.quarantine_after, j.quarantine_after),
    max_attempts = coalesce(set_job_policy.max_attempts, j.max_attempts),
    backoff_base = coalesce(set_job_policy.backoff_base, j.backoff_base),
    backoff_cap = coalesce(set_job_policy.backoff_cap, j.backoff_cap),
    events = coalesce(set_job_policy.events, j.events)
  where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message, fields)
  values (
    pgjobs._now(), 'job_policy_set', v_job.id, v_job.room, set_job_policy.actor, pgjobs._redact_line(set_job_policy.reason),
    jsonb_strip_nulls(jsonb_build_object(
      'max_attempts', set_job_policy.max_attempts, 'backoff_base', set_job_policy.backoff_base,
      'backoff_cap', set_job_policy.backoff_cap, 'events', set_job_policy.events,
      'quarantine_after', set_job_policy.quarantine_after
    ))
  );
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

comment on function pgjobs.set_job_policy is
  'Changes how a job is retried. Example: select max_attempts from pgjobs.set_job_policy(''@global:modifiers:Rotate'', max_attempts => 5)';
