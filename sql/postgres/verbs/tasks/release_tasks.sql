-- Gives leases back unused: no attempt is counted and the task has its place in
-- the lane again. With a `delay` it becomes due that much later instead, and leaves
-- its slot, where the job has a limit, to what is due now. With `holder` the lease
-- must also be that holder's.
create function pgjobs.release_tasks(
  task_ids bigint[], tokens uuid[], delay interval default null, holder text default null
)
returns table (task_id bigint, status text, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_held tid[];
  v_tasks bigint[];
  v_released uuid[];
  v_jobs integer[];
  v_lowest timestamptz;
  v_back bigint[];
  v_ended bigint[];
  v_job record;
begin
  perform pgjobs._check_batch(release_tasks.task_ids, release_tasks.tokens);
  if release_tasks.delay is not null then
    perform pgjobs._check_delay(release_tasks.delay);
  end if;
  v_held := pgjobs._lock_leases(release_tasks.task_ids, release_tasks.tokens, v_now, release_tasks.holder);
  with gone as (
    delete from pgjobs.leases as l where l.ctid = any (v_held) returning l.*
  ), cancelled as (
    insert into pgjobs.outcomes (
      task_id, job_id, status, attempt, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, reason
    )
    select
      g.task_id, g.job_id, 'cancelled', g.attempt, g.token, g.worker_id, g.holder, g.due_at, g.claimed_at, g.started_at,
      v_now, g.cancel_reason
    from gone as g
    where g.cancel_requested_at is not null
    returning task_id
  ), back as (
    select g.task_id, g.job_id, t.priority, g.attempt - 1 as attempt, g.due_at, g.key
    from gone as g
    join pgjobs.tasks as t on t.id = g.task_id
    where g.cancel_requested_at is null
  ), due as (
    insert into pgjobs.ready (job_id, priority, attempt, due_at, task_id, is_again, is_released, updated_at)
    select b.job_id, b.priority, b.attempt, b.due_at, b.task_id, true, true, v_now
    from back as b
    where release_tasks.delay is null
    returning task_id
  ), later as (
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority, attempt, updated_at, key)
    select b.task_id, v_now + release_tasks.delay, b.job_id, b.priority, b.attempt, v_now, b.key
    from back as b
    where release_tasks.delay is not null
  )
  select array_agg(g.task_id), array_agg(g.token), array_agg(g.job_id), min(g.due_at),
    (select array_agg(d.task_id) from due as d), (select array_agg(c.task_id) from cancelled as c)
  into v_tasks, v_released, v_jobs, v_lowest, v_back, v_ended
  from gone as g;
  perform pgjobs._announce_endings(v_ended);
  perform pgjobs._tell_returned(v_back, 'released');
  if release_tasks.delay is null and v_lowest < pgjobs._settled(v_now) then
    perform pgjobs._floors_are_wrong();
  end if;
  perform pgjobs._enter_keys(v_tasks);
  for v_job in
    select j.id, count(*) as quantity from unnest(v_jobs) as j (id) where release_tasks.delay is null group by j.id
  loop
    perform pgjobs._wake(v_job.id, v_job.quantity);
  end loop;
  if release_tasks.delay is not null then
    perform pgjobs._wake_for_slots(v_jobs);
  end if;
  return query
  select
    i.task_id,
    case when r.token is not null then coalesce(o.status, 'pending') end,
    case when r.token is null then pgjobs._lost_or_unknown(i.task_id) end
  from unnest(release_tasks.task_ids, release_tasks.tokens) as i (task_id, token)
  left join unnest(v_tasks, v_released) as r (task_id, token) on r.task_id = i.task_id and r.token = i.token
  left join pgjobs.outcomes as o on o.task_id = i.task_id and o.token = i.token;
end
$$;

comment on function pgjobs.release_tasks is
  'Returns tasks to the queue, without using up an attempt. Example: select * from pgjobs.release_tasks(array[42], array[''<token>''::uuid])';
