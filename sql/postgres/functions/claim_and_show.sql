-- Claims one task for a worker, under a lease that lives by heartbeats, and
-- shows it as HTTP does, with the lease's token, which nobody else is shown; no
-- row when nothing is due. Never an @internal one.
create function pgjobs.claim_and_show(worker_id uuid, actor text default null)
returns setof pgjobs.claim_answer
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_id bigint;
begin
  -- A statement of its own, so that the next one sees what it wrote.
  select c.task_id into v_id
  from pgjobs.claim_tasks(worker_id => claim_and_show.worker_id, remote => true, actor => claim_and_show.actor) as c;
  return query select a.* from pgjobs.claim_answer as a where a.id = v_id;
end
$$;

comment on function pgjobs.claim_and_show is
  'Claims one task and shows it as HTTP does. Example: select uuid, token, payload from pgjobs.claim_and_show(''<worker id>'')';
