-- Ends tasks successfully. Answers per item: the status, or the problem's SQLSTATE.
--
-- An item whose lease has lapsed or passed on changes nothing (PJ007). Completing
-- again under the same token gets the same answer, so a lost reply can be retried.
-- With `holder` the lease must also be that holder's, by name or worker id.
create function pgjobs.complete_tasks(
  task_ids bigint[], tokens uuid[], results jsonb[] default null, holder text default null
)
returns table (task_id bigint, status text, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_quantity bigint;
  v_lease record;
  v_is_limited boolean;
  v_is_told boolean;
begin
  if not coalesce(
    cardinality(complete_tasks.task_ids) = cardinality(complete_tasks.tokens) and cardinality(complete_tasks.tokens) <= 10000
    and (complete_tasks.results is null or cardinality(complete_tasks.results) = cardinality(complete_tasks.tokens)), false
  ) then
    perform pgjobs._check_batch(complete_tasks.task_ids, complete_tasks.tokens, cardinality(complete_tasks.results));
  end if;
  if complete_tasks.results is not null then
    perform pgjobs._check_documents(complete_tasks.results, 'result');
  end if;
  -- One task: there is no order to keep, and the same without arrays costs half as much.
  if cardinality(complete_tasks.task_ids) = 1 then
    delete from pgjobs.leases as l
    where l.task_id = complete_tasks.task_ids[1] and l.token = complete_tasks.tokens[1]
      and (l.until is null or l.until > v_now)
      and (complete_tasks.holder is null or coalesce(l.holder, l.worker_id::text) = complete_tasks.holder)
    returning l.job_id, l.attempt, l.worker_id, l.holder, l.due_at, l.claimed_at, l.started_at, l.is_limited into v_lease;
    if v_lease.job_id is not null then
      insert into pgjobs.outcomes
        (task_id, job_id, status, attempt, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, result)
      values (
        complete_tasks.task_ids[1], v_lease.job_id, 'completed', v_lease.attempt, complete_tasks.tokens[1], v_lease.worker_id,
        v_lease.holder, v_lease.due_at, v_lease.claimed_at, coalesce(v_lease.started_at, v_lease.claimed_at), v_now,
        complete_tasks.results[1]
      );
      insert into pgjobs.uncounted (job_id, measure, at, task_ids, claimed_at, due_at)
      values (v_lease.job_id, 'completed', v_now, complete_tasks.task_ids, array[v_lease.claimed_at], array[v_lease.due_at])
      returning exists (select from pgjobs.jobs as j where j.events = 'full') into v_is_told;
      -- A lease from before its job had a limit held no slot.
      if v_lease.is_limited or v_is_told or pgjobs._are_tasks_watched() or pgjobs._are_dependencies_used() then
        perform pgjobs._tell_ended(complete_tasks.task_ids);
      end if;
      complete_tasks.task_id := complete_tasks.task_ids[1];
      complete_tasks.status := 'completed';
      return next;
      return;
    end if;
  end if;
  -- In order of task, so that two overlapping batches cannot deadlock: a nested loop keeps the
  -- order of its outer side, and the function's settings allow no other join. Locking them first by
  -- `order by … for update` would look each lease up twice. The range
  -- makes the planner expect few items, and so begin with them whatever it
  -- believes of the leases.
  with gone as (
    delete from pgjobs.leases as l
    using (
      select t.task_id, t.token, t.result
      from unnest(complete_tasks.task_ids, complete_tasks.tokens, complete_tasks.results) as t (task_id, token, result)
      where t.task_id between 1 and 9223372036854775807
      order by t.task_id
    ) as i
    where l.task_id = i.task_id and l.token = i.token
      and (l.until is null or l.until > v_now)
      and (complete_tasks.holder is null or coalesce(l.holder, l.worker_id::text) = complete_tasks.holder)
    returning l.task_id, l.job_id, l.attempt, l.token, l.worker_id, l.holder, l.due_at, l.claimed_at, l.started_at,
      i.result
  ), ended as (
    insert into pgjobs.outcomes
      (task_id, job_id, status, attempt, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, result)
    select
      g.task_id, g.job_id, 'completed', g.attempt, g.token, g.worker_id, g.holder, g.due_at, g.claimed_at,
      coalesce(g.started_at, g.claimed_at), v_now, g.result
    from gone as g
  ), noted as (
    insert into pgjobs.uncounted (job_id, measure, at, task_ids, claimed_at, due_at)
    select g.job_id, 'completed', v_now, array_agg(g.task_id), array_agg(g.claimed_at), array_agg(g.due_at)
    from gone as g
    group by g.job_id
    returning cardinality(task_ids) as quantity
  )
  select
    sum(n.quantity), exists (select from pgjobs.jobs as j where j.events = 'full'),
    exists (select from pgjobs.jobs as j where j.max_running is not null)
  into v_quantity, v_is_told, v_is_limited
  from noted as n;
  if v_quantity > 0 and (v_is_limited or v_is_told or pgjobs._are_tasks_watched() or pgjobs._are_dependencies_used()) then
    perform pgjobs._tell_ended(array_agg(o.task_id))
    from unnest(complete_tasks.task_ids, complete_tasks.tokens) as i (task_id, token)
    join pgjobs.outcomes as o on o.task_id = i.task_id and o.token = i.token and o.ended_at = v_now;
  end if;
  if v_quantity = cardinality(complete_tasks.task_ids) then
    return query select i.task_id, 'completed', null::text from unnest(complete_tasks.task_ids) as i (task_id);
    return;
  end if;
  return query
  select i.task_id, o.status, case when o.task_id is null then pgjobs._lost_or_unknown(i.task_id) end
  from unnest(complete_tasks.task_ids, complete_tasks.tokens) as i (task_id, token)
  left join pgjobs.outcomes as o
    on o.task_id = i.task_id and o.token = i.token and o.status = 'completed'
    and (complete_tasks.holder is null or coalesce(o.holder, o.worker_id::text) = complete_tasks.holder);
end
$$;

comment on function pgjobs.complete_tasks is
  'Ends tasks successfully. Example: select * from pgjobs.complete_tasks(array[42], array[''<token>''::uuid], array[''{"ok": true}''::jsonb])';
