-- Ends jobs that are too old: queued ones created longer than `age` ago, processing ones whose
-- lease began longer than `runtime` ago. `action` is cancel or fail. A bounded batch; with
-- `dry_run` it only tells which.
create function pgjobs.expire_generic_jobs(
  domain text default null,
  queue text default null,
  job_type text default null,
  age interval default null,
  runtime interval default null,
  action text default 'cancel',
  most integer default 1000,
  dry_run boolean default false,
  actor text default null
)
returns table (task_id bigint, status text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_waiting bigint[] := '{}';
  v_running bigint[] := '{}';
begin
  if expire_generic_jobs.action is null or expire_generic_jobs.action not in ('cancel', 'fail') then
    perform pgjobs._refuse('validation-error', 'action must be cancel or fail', format('Got %s.', quote_nullable(expire_generic_jobs.action)));
  end if;
  if num_nonnulls(expire_generic_jobs.age, expire_generic_jobs.runtime) = 0
    or least(expire_generic_jobs.age, expire_generic_jobs.runtime) <= interval '0'
    or greatest(expire_generic_jobs.age, expire_generic_jobs.runtime) > interval '1000 years'
  then
    perform pgjobs._refuse('validation-error', 'age or runtime must be given, and be longer than zero');
  end if;
  if expire_generic_jobs.age is not null then
    v_waiting := pgjobs._chosen_generic(
      expire_generic_jobs.domain, expire_generic_jobs.queue, expire_generic_jobs.job_type, 'queued', null,
      expire_generic_jobs.most, created_before => v_now - expire_generic_jobs.age
    );
  end if;
  if expire_generic_jobs.runtime is not null then
    v_running := pgjobs._chosen_generic(
      expire_generic_jobs.domain, expire_generic_jobs.queue, expire_generic_jobs.job_type, 'processing', null,
      expire_generic_jobs.most, claimed_before => v_now - expire_generic_jobs.runtime
    );
    v_running := v_running[1:expire_generic_jobs.most - cardinality(v_waiting)];
  end if;
  if expire_generic_jobs.dry_run then
    return query select i.id, null::text from unnest(v_waiting || v_running) as i (id);
  elsif expire_generic_jobs.action = 'cancel' then
    return query
    select c.task_id, c.status
    from pgjobs.cancel_tasks(v_waiting || v_running, actor => expire_generic_jobs.actor, reason => 'ttl', force => true) as c
    where c.problem is null;
  else
    perform pgjobs._fail_expired(v_waiting, v_running, expire_generic_jobs.actor, v_now);
    return query
    select o.task_id, o.status from pgjobs.outcomes as o
    where o.task_id = any (v_waiting || v_running) and o.ended_at = v_now
    order by o.task_id;
  end if;
end
$$;

comment on function pgjobs.expire_generic_jobs is
  'Ends jobs that are too old. Example: select * from pgjobs.expire_generic_jobs(''chatbooks'', age => ''7 days'', dry_run => true)';
