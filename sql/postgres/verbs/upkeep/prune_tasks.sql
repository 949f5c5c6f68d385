-- Removes ended tasks that retention no longer keeps, a bounded batch,
-- with their attempts and keys; events have a retention of their own. With `dry_run` it only tells
-- which. The other arguments narrow it for operators.
create function pgjobs.prune_tasks(
  of_status text default null,
  older_than interval default null,
  of_job text default null,
  batch integer default 1000,
  dry_run boolean default false,
  in_room text default null,
  in_category text default null
)
returns table (task_id bigint, status text, ended_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_job integer := case when prune_tasks.of_job is not null then (pgjobs._find_job(prune_tasks.of_job)).id end;
  v_key text;
  v_floor bigint;
  v_last bigint;
  v_tasks bigint[];
begin
  if prune_tasks.batch is null or prune_tasks.batch not between 1 and 100000 then
    perform pgjobs._refuse('validation-error', 'batch must be between 1 and 100000', format('Got %s.', prune_tasks.batch));
  end if;
  if prune_tasks.older_than < interval '0' or prune_tasks.older_than > interval '1000 years' then
    perform pgjobs._refuse('validation-error', 'older_than must be between zero and 1000 years',
      format('Got %s.', prune_tasks.older_than));
  end if;
  if prune_tasks.of_status not in ('completed', 'failed', 'cancelled') then
    perform pgjobs._refuse('validation-error', 'of_status must be completed, failed or cancelled',
      format('Got %s.', quote_literal(prune_tasks.of_status)));
  end if;
  v_key := 'pgjobs.pruned_' || md5(row(prune_tasks.of_status, prune_tasks.older_than, v_job, prune_tasks.in_room, prune_tasks.in_category)::text);
  v_floor := case when not prune_tasks.dry_run then pgjobs._pruned_upto(v_key, v_now) end;
  v_last := pgjobs._last_task_before(v_now - coalesce(prune_tasks.older_than, pgjobs._shortest_retention()) + interval '1 hour');
  -- The second look starts at the beginning: what is below the floor may have
  -- become old since, and an operator asks now. A sweep comes again.
  for v_look in 1..2 loop
    v_tasks := pgjobs._prunable_tasks(
      v_now, coalesce(v_floor, 0), v_last, prune_tasks.of_status, prune_tasks.older_than, v_job, prune_tasks.in_room,
      prune_tasks.in_category, prune_tasks.batch
    );
    exit when v_floor is null or cardinality(v_tasks) = prune_tasks.batch
      or num_nulls(prune_tasks.of_status, prune_tasks.older_than, v_job, prune_tasks.in_room, prune_tasks.in_category) = 5;
    v_floor := null;
  end loop;
  -- The range lets the partitions of other tasks be passed by.
  return query
  select o.task_id, o.status, o.ended_at
  from pgjobs.outcomes as o
  where o.task_id = any (v_tasks) and o.task_id between v_tasks[1] and v_tasks[cardinality(v_tasks)]
  order by o.task_id;
  if not prune_tasks.dry_run then
    perform set_config(v_key, format('%s/%s',
      case when cardinality(v_tasks) = prune_tasks.batch then v_tasks[cardinality(v_tasks)] else v_last end,
      extract(epoch from v_now)), false);
    perform pgjobs._remove_ended(v_tasks);
  end if;
end
$$;

comment on function pgjobs.prune_tasks is
  'Removes ended tasks. Example: select * from pgjobs.prune_tasks(older_than => ''90 days'', dry_run => true)';
