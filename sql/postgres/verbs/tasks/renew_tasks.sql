-- Extends leases and tells which tasks should stop. Never shortens a lease, and
-- never reaches further than settings.max_lease; one that lives by heartbeats
-- alone stays so. With `holder` the lease must also be that holder's.
create function pgjobs.renew_tasks(task_ids bigint[], tokens uuid[], lease interval, holder text default null)
returns table (task_id bigint, until timestamptz, cancel_requested boolean, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_until timestamptz := pgjobs._lease_until(renew_tasks.lease, v_now);
  v_held tid[];
begin
  perform pgjobs._check_batch(renew_tasks.task_ids, renew_tasks.tokens);
  v_held := pgjobs._lock_leases(renew_tasks.task_ids, renew_tasks.tokens, v_now, renew_tasks.holder);
  update pgjobs.leases as l set until = v_until, updated_at = v_now where l.ctid = any (v_held) and l.until < v_until;
  return query
  select
    i.task_id,
    l.until,
    l.cancel_requested_at is not null,
    case when l.task_id is null then pgjobs._lost_or_unknown(i.task_id) end
  from unnest(renew_tasks.task_ids, renew_tasks.tokens) as i (task_id, token)
  left join pgjobs.leases as l
    on l.task_id = i.task_id and l.token = i.token and (l.until is null or l.until > v_now)
    and (renew_tasks.holder is null or coalesce(l.holder, l.worker_id::text) = renew_tasks.holder);
end
$$;

comment on function pgjobs.renew_tasks is
  'Extends leases. Example: select * from pgjobs.renew_tasks(array[42], array[''<token>''::uuid], ''1 minute'')';
