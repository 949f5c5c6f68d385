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
  v_ended bigint;
  v_lease pgjobs.leases;
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
    returning l.* into v_lease;
    if v_lease.task_id is not null then
      insert into pgjobs.outcomes (
        task_id, job_id, status, attempt, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, result
      )
      values (
        v_lease.task_id, v_lease.job_id, 'completed', v_lease.attempt, v_lease.token, v_lease.worker_id, v_lease.holder,
        v_lease.due_at, v_lease.claimed_at, coalesce(v_lease.started_at, v_lease.claimed_at), v_now,
        complete_tasks.results[1]
      );
      complete_tasks.task_id := v_lease.task_id;
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
  )
  insert into pgjobs.outcomes (
    task_id, job_id, status, attempt, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, result
  )
  select
    g.task_id, g.job_id, 'completed', g.attempt, g.token, g.worker_id, g.holder, g.due_at, g.claimed_at,
    coalesce(g.started_at, g.claimed_at), v_now, g.result
  from gone as g;
  get diagnostics v_ended = row_count;
  if v_ended = cardinality(complete_tasks.task_ids) then
    return query select i.task_id, 'completed', null::text from unnest(complete_tasks.task_ids) as i (task_id);
    return;
  end if;
  return query
  select
    i.task_id,
    o.status,
    case when o.task_id is null then pgjobs._lost_or_unknown(i.task_id) end
  from unnest(complete_tasks.task_ids, complete_tasks.tokens) as i (task_id, token)
  left join pgjobs.outcomes as o
    on o.task_id = i.task_id and o.token = i.token and o.status = 'completed'
    and (complete_tasks.holder is null or coalesce(o.holder, o.worker_id::text) = complete_tasks.holder);
end
$$;

comment on function pgjobs.complete_tasks is
  'Ends tasks successfully. Example: select * from pgjobs.complete_tasks(array[42], array[''<token>''::uuid], array[''{"ok": true}''::jsonb])';
