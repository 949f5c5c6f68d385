-- Ends attempts with an error. The job's policy decides whether a task waits for
-- another attempt (pending, with run_at), has failed for good, or was put into quarantine
-- (ignored) because its attempts end in the same way.
--
-- A task whose cancellation was requested becomes cancelled instead. Failing
-- again under the same token gets the same answer, unless it was cancelled. With `holder` the lease must
-- also be that holder's, by name or worker id.
create function pgjobs.fail_tasks(
  task_ids bigint[],
  tokens uuid[],
  errors text[],
  kinds text[] default null,
  retryable boolean[] default null,
  holder text default null
)
returns table (task_id bigint, status text, run_at timestamptz, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_held tid[];
begin
  perform pgjobs._check_batch(
    fail_tasks.task_ids, fail_tasks.tokens,
    coalesce(cardinality(fail_tasks.errors), -1), cardinality(fail_tasks.kinds), cardinality(fail_tasks.retryable)
  );
  v_held := pgjobs._lock_leases(fail_tasks.task_ids, fail_tasks.tokens, v_now, fail_tasks.holder);
  perform pgjobs._end_attempts(
    v_held, fail_tasks.tokens, fail_tasks.errors, fail_tasks.kinds, fail_tasks.retryable, v_now
  );
  return query
  select
    i.task_id,
    coalesce(o.status, case
      when a.task_id is null then null
      when s.task_id is null and exists (select from pgjobs.ignored as g where g.task_id = a.task_id) then 'ignored'
      else 'pending'
    end),
    s.run_at,
    case when o.task_id is null and a.task_id is null then pgjobs._lost_or_unknown(i.task_id) end
  from unnest(fail_tasks.task_ids, fail_tasks.tokens) as i (task_id, token)
  left join pgjobs.outcomes as o
    on o.task_id = i.task_id and o.token = i.token and (o.ended_at = v_now or pgjobs._is_own_failure(o.status, o.error_kind))
    and (fail_tasks.holder is null or coalesce(o.holder, o.worker_id::text) = fail_tasks.holder)
  left join pgjobs.attempts as a
    on a.task_id = i.task_id and a.token = i.token and (a.ended_at = v_now or pgjobs._is_own_failure(a.status, a.error_kind))
    and (fail_tasks.holder is null or coalesce(a.holder, a.worker_id::text) = fail_tasks.holder)
  left join pgjobs.scheduled as s on s.task_id = a.task_id;
end
$$;

comment on function pgjobs.fail_tasks is
  'Ends attempts with an error. Example: select * from pgjobs.fail_tasks(array[42], array[''<token>''::uuid], array[''no route to host''], array[''network''])';
