-- Claims one task for a worker, under a lease that lives by heartbeats, and
-- shows it as HTTP does, with the lease's token, which nobody else is shown; no
-- row when nothing is due. Never an @internal one. `durable` as for claims.
create function pgjobs.claim_and_show(worker_id uuid, actor text default null, durable boolean default true)
returns setof pgjobs.claim_answer
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  -- What the claim answers is all there is to show: the task is nobody else's, and not yet started.
  return query
  select
    c.task_id, pgjobs.task_uuid(c.task_id), c.job, c.room, 'claimed', c.created_at, null::timestamptz,
    null::timestamptz, claim_and_show.worker_id, null::text, c.payload, null::jsonb, null::integer, c.token,
    c.trace_context
  from pgjobs.claim_tasks(
    worker_id => claim_and_show.worker_id, remote => true, actor => claim_and_show.actor, durable => claim_and_show.durable
  ) as c;
end
$$;

comment on function pgjobs.claim_and_show is
  'Claims one task and shows it as HTTP does. Example: select uuid, token, payload from pgjobs.claim_and_show(''<worker id>'')';
