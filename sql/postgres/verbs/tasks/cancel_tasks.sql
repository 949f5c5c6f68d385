-- Cancels tasks. Pending ones end at once; the workers of claimed and running ones are
-- asked to stop and learn of it at their next renew or progress report. With `force`
-- they end now, and their holders' tokens are worth nothing. Named and answered as in
-- retry_tasks.
create function pgjobs.cancel_tasks(
  task_ids bigint[] default null,
  task_uuids uuid[] default null,
  reason text default null,
  force boolean default false,
  actor text default null,
  dry_run boolean default false
)
returns table (task_id bigint, status text, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_named bigint[] := pgjobs._named_tasks(cancel_tasks.task_ids, cancel_tasks.task_uuids);
  v_left bigint[] := pgjobs._ids_sorted(pgjobs._tasks_in_reach(v_named));
  v_actor text := pgjobs._actor(cancel_tasks.actor);
  v_reason text := left(pgjobs._redact(cancel_tasks.reason), 500);
  v_done bigint[] := '{}';
  v_asked bigint[] := '{}';
  v_ended bigint[];
begin
  if cancel_tasks.dry_run then
    return query select j.* from pgjobs._judged_step(v_named, 'cancel') as j;
    return;
  end if;
  -- A task may come back into line between the look there and the look at its
  -- lease, so both are repeated.
  for v_try in 1..3 loop
    with ended as (
      insert into pgjobs.outcomes (task_id, job_id, status, attempt, ended_at, reason, actor)
      select p.task_id, p.job_id, 'cancelled', p.attempt, v_now, v_reason, v_actor
      from pgjobs._take_pending(v_left) as p
      returning task_id
    )
    select array_agg(e.task_id) into v_ended from ended as e;
    perform pgjobs._announce_endings(v_ended);
    v_done := v_done || v_ended;
    v_left := pgjobs._ids_except(v_left, v_done);
    exit when v_left = '{}';
    if cancel_tasks.force then
      v_done := v_done || pgjobs._end_leases(v_left, v_reason, v_actor, v_now);
    else
      v_asked := v_asked || pgjobs._ask_to_stop(v_left, v_reason, v_now);
    end if;
    v_left := pgjobs._ids_except(v_left, v_done || v_asked);
    exit when v_left = '{}';
  end loop;
  perform pgjobs._record_actions(v_asked, 'cancel_requested', null, v_actor, v_reason, v_now);
  return query select a.* from pgjobs._answered_step(v_named, v_done || v_asked) as a;
end
$$;

comment on function pgjobs.cancel_tasks is
  'Cancels tasks. Example: select * from pgjobs.cancel_tasks(array[41, 42], reason => ''asked by the owner'')';
