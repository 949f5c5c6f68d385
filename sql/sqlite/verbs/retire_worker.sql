-- retire_worker(worker_id uuid, actor text = null, is_superuser boolean = false, connection_id uuid = null)
--
-- Takes a worker away: its tasks fail or are retried, its links go, and jobs
-- nobody serves any more are retired. Disconnects and sweeps end here too. With
-- a lost connection named, a worker that has joined by another one is left alone.
select iif(:is_superuser, null, :actor) as v_actor;
-- include find_worker
select json_group_array(w.id) as v_workers
from workers as w
where w.id = :worker_id and coalesce(w.connection_id = :connection_id, true);
-- include cleanup_workers
select :v_failed as failed, :v_retried as retried, :v_retired_jobs as retired_jobs;
