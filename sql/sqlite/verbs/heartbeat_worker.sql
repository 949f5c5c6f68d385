-- heartbeat_worker(worker_id uuid, actor text = null, connection_id uuid = null, clock timestamptz = null)
--
-- Keeps a worker, and every lease that lives by it, alive. A connection that is
-- named is the one by which the worker is connected from now on. The clock is not kept.
select :actor as v_actor;
-- include find_worker
update workers set last_heartbeat_at = now(), connection_id = coalesce(:connection_id, connection_id) where id = :worker_id;
select w.* from workers as w where w.id = :worker_id;
