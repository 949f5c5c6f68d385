-- set_error_policy(
--   job text, kind text, is_retryable boolean = true, backoff_base interval = '1 second',
--   backoff_cap interval = '1 hour', jitter_share real = 0.25,
--   jitter_cap interval = null
-- )
--
-- Says what a job does after errors of one kind.
select :job as v_address;
-- include find_job
select refuse(
  'validation-error', 'A policy names a kind, its cap is not below its base, and jitter_share is between 0 and 1'
)
where :kind = '' or length(:kind) > 200 or :backoff_base < 0 or :backoff_cap < :backoff_base
  or :jitter_share not between 0 and 1;
insert into error_policies (job_id, kind, is_retryable, backoff_base, backoff_cap, jitter_share, jitter_cap)
values (:v_job, :kind, :is_retryable, :backoff_base, :backoff_cap, :jitter_share, :jitter_cap)
on conflict (job_id, kind) do update set
  is_retryable = excluded.is_retryable,
  backoff_base = excluded.backoff_base,
  backoff_cap = excluded.backoff_cap,
  jitter_share = excluded.jitter_share,
  jitter_cap = excluded.jitter_cap;
