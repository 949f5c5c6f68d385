-- heartbeat_worker(worker_id uuid, actor text = null)
--
-- Keeps a worker, and every lease that lives by it, alive.
select :actor as v_actor;
-- include find_worker
update workers set last_heartbeat_at = now() where id = :worker_id;
select w.* from workers as w where w.id = :worker_id;
