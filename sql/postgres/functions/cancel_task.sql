-- Cancels a task. A pending one ends at once; the worker of a claimed or running
-- one is asked to stop and learns of it at its next renew or progress report.
-- With `force` it ends now, and its holder's token is worth nothing.
create function pgjobs.cancel_task(
  task_id bigint, reason text default null, force boolean default false, actor text default null
)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_reason text := left(pgjobs.redact(cancel_task.reason), 500);
  v_is_request boolean := false;
  v_is_done boolean := false;
begin
  -- A task may come back into line between the look there and the look at its
  -- lease, so both are repeated.
  for v_try in 1..3 loop
    with taken as (
      select p.job_id, p.attempt from pgjobs.take_pending(cancel_task.task_id) as p
    )
    insert into pgjobs.outcomes (task_id, job_id, status, attempt, ended_at, reason, actor)
    select cancel_task.task_id, t.job_id, 'cancelled', t.attempt, v_now, v_reason, cancel_task.actor from taken as t;
    v_is_done := found;
    exit when v_is_done;
    if cancel_task.force then
      with gone as (
        delete from pgjobs.leases as l where l.task_id = cancel_task.task_id returning l.*
      )
      insert into pgjobs.outcomes (
        task_id, job_id, status, attempt, token, worker_id, holder, claimed_at, started_at, ended_at, reason, actor
      )
      select
        g.task_id, g.job_id, 'cancelled', g.attempt, g.token, g.worker_id, g.holder, g.claimed_at, g.started_at, v_now,
        coalesce(v_reason, g.cancel_reason), cancel_task.actor
      from gone as g;
    else
      update pgjobs.leases as l
      set cancel_requested_at = coalesce(l.cancel_requested_at, v_now), cancel_reason = coalesce(v_reason, l.cancel_reason)
      where l.task_id = cancel_task.task_id;
      v_is_request := found;
    end if;
    v_is_done := found;
    exit when v_is_done;
  end loop;
  if not v_is_done then
    perform pgjobs.refuse_step(cancel_task.task_id, 'cancel', 'pending, claimed and running');
  end if;
  if v_is_request then
    perform pgjobs.record_action(cancel_task.task_id, 'cancel_requested', null, cancel_task.actor, v_reason, v_now);
  end if;
  return query select t.* from pgjobs.task as t where t.id = cancel_task.task_id;
end
$$;

comment on function pgjobs.cancel_task is
  'Cancels a task. Example: select status, reason from pgjobs.cancel_task(42, ''asked by the owner'')';
