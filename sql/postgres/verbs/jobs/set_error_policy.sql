-- Says what a job does after errors of one kind.
create function pgjobs.set_error_policy(
  job text,
  kind text,
  is_retryable boolean default true,
  backoff_base interval default '1 second',
  backoff_cap interval default '1 hour',
  jitter_share real default 0.25,
  jitter_cap interval default null
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs._find_job(set_error_policy.job);
begin
  if set_error_policy.kind is null or set_error_policy.kind = '' or length(set_error_policy.kind) > 200
    or set_error_policy.backoff_base < interval '0' or set_error_policy.backoff_cap < set_error_policy.backoff_base
    or set_error_policy.jitter_share not between 0 and 1
  then
    perform pgjobs._refuse('validation-error',
      'A policy names a kind, its cap is not below its base, and jitter_share is between 0 and 1');
  end if;
  insert into pgjobs.error_policies (job_id, kind, is_retryable, backoff_base, backoff_cap, jitter_share, jitter_cap)
  values (
    v_job.id, set_error_policy.kind, set_error_policy.is_retryable, set_error_policy.backoff_base,
    set_error_policy.backoff_cap, set_error_policy.jitter_share, set_error_policy.jitter_cap
  )
  on conflict (job_id, kind) do update set
    is_retryable = excluded.is_retryable,
    backoff_base = excluded.backoff_base,
    backoff_cap = excluded.backoff_cap,
    jitter_share = excluded.jitter_share,
    jitter_cap = excluded.jitter_cap;
end
$$;

comment on function pgjobs.set_error_policy is
  'Sets what a job does after errors of one kind. Example: select pgjobs.set_error_policy(''@global:modifiers:Rotate'', ''auth'', is_retryable => false)';
