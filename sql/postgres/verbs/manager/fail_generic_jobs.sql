-- Ends attempts of jobs with an error, as fail_tasks does. Where they are retried, they wait
-- `backoff`, if that is given; the same error so many times in a row (`quarantine_after`, unless
-- the job says otherwise) puts one into quarantine. Completion tokens are as in complete_generic_jobs,
-- for those that have ended with this.
create function pgjobs.fail_generic_jobs(
  task_ids bigint[],
  tokens uuid[],
  errors text[],
  kinds text[],
  retryable boolean[],
  worker_id text,
  backoff interval default null,
  quarantine_after integer default null,
  completion_tokens text[] default null
)
returns table (task_id bigint, status text, run_at timestamptz, problem text, is_repeated boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_given text[] := coalesce(fail_generic_jobs.completion_tokens, array_fill(null::text, array[cardinality(task_ids)]));
  v_known bigint[];
  v_held tid[];
begin
  perform pgjobs._check_batch(
    fail_generic_jobs.task_ids, fail_generic_jobs.tokens, coalesce(cardinality(fail_generic_jobs.errors), -1),
    cardinality(fail_generic_jobs.kinds), cardinality(fail_generic_jobs.retryable), cardinality(fail_generic_jobs.completion_tokens)
  );
  if fail_generic_jobs.backoff is not null then
    perform pgjobs._check_delay(fail_generic_jobs.backoff);
  end if;
  v_known := pgjobs._lock_completions(fail_generic_jobs.task_ids, v_given);
  v_held := pgjobs._lock_leases(fail_generic_jobs.task_ids, fail_generic_jobs.tokens, v_now, fail_generic_jobs.worker_id);
  perform pgjobs._end_attempts(
    v_held, fail_generic_jobs.tokens, fail_generic_jobs.errors, fail_generic_jobs.kinds, fail_generic_jobs.retryable, v_now,
    fail_generic_jobs.backoff, fail_generic_jobs.quarantine_after
  );
  insert into pgjobs.completion_tokens (task_id, token)
  select distinct on (i.id) i.id, i.token
  from unnest(fail_generic_jobs.task_ids, fail_generic_jobs.tokens, v_given) as i (id, lease, token)
  join pgjobs.outcomes as o on o.task_id = i.id and o.token = i.lease and o.ended_at = v_now
  where i.token is not null
  on conflict do nothing;
  return query
  select
    i.id, case when i.id = any (v_known) then a.status else f.status end, f.run_at,
    case when i.id = any (v_known) then a.problem else f.problem end, i.id = any (v_known)
  from unnest(fail_generic_jobs.task_ids, fail_generic_jobs.tokens, v_given) with ordinality as i (id, lease, token, place)
  -- Nothing is under these leases any more: this tells what became of them.
  cross join lateral pgjobs.fail_tasks(
    array[i.id], array[i.lease], array['ended'], array[null::text], array[true], fail_generic_jobs.worker_id
  ) as f
  left join lateral pgjobs._answered_completion(i.id, i.token) as a on i.id = any (v_known)
  order by i.place;
end
$$;

comment on function pgjobs.fail_generic_jobs is
  'Ends attempts of jobs with an error. Example: select * from pgjobs.fail_generic_jobs(array[42], array[''<token>''::uuid], array[''no route''], array[''network''], array[true], ''me'', backoff => ''5 s'', quarantine_after => 3)';
