-- Keeps a worker, and every lease that lives by it, alive. A connection that is
-- named is the one by which the worker is connected from now on. `clock` is what the
-- worker's own clock shows: how far it is off is kept for whoever compares logs.
create function pgjobs.heartbeat_worker(
  worker_id uuid, actor text default null, connection_id uuid default null, clock timestamptz default null
)
returns setof pgjobs.workers
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._find_worker(heartbeat_worker.worker_id, heartbeat_worker.actor);
  return query
  update pgjobs.workers as w
  set
    last_heartbeat_at = pgjobs._now(),
    connection_id = coalesce(heartbeat_worker.connection_id, w.connection_id),
    clock_ahead = coalesce(
      case when pgjobs._is_known_year(heartbeat_worker.clock) then heartbeat_worker.clock - pgjobs._now() end, w.clock_ahead
    )
  where w.id = heartbeat_worker.worker_id
  returning w.*;
  -- A sweep may have taken it between the look and the update.
  if not found then
    perform pgjobs._find_worker(heartbeat_worker.worker_id);
  end if;
end
$$;

comment on function pgjobs.heartbeat_worker is
  'Keeps a worker alive. Example: select last_heartbeat_at from pgjobs.heartbeat_worker(''<worker id>'')';
