-- Says that work on claimed tasks has begun, and tells which should stop at
-- once. Starting a running task again changes nothing.
create function pgjobs.start_tasks(task_ids bigint[], tokens uuid[])
returns table (task_id bigint, status text, cancel_requested boolean, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_held tid[];
begin
  perform pgjobs._check_batch(start_tasks.task_ids, start_tasks.tokens);
  v_held := pgjobs._lock_leases(start_tasks.task_ids, start_tasks.tokens, v_now);
  update pgjobs.leases as l set started_at = v_now where l.ctid = any (v_held) and l.started_at is null;
  return query
  select
    i.task_id,
    case when l.task_id is not null then 'running' end,
    l.cancel_requested_at is not null,
    case when l.task_id is null then pgjobs._lost_or_unknown(i.task_id) end
  from unnest(start_tasks.task_ids, start_tasks.tokens) as i (task_id, token)
  left join pgjobs.leases as l
    on l.task_id = i.task_id and l.token = i.token and (l.until is null or l.until > v_now);
end
$$;

comment on function pgjobs.start_tasks is
  'Marks tasks as running. Example: select * from pgjobs.start_tasks(array[42], array[''<token>''::uuid])';
