-- retire_worker(worker_id uuid, actor text = null, is_superuser boolean = false, silent_for interval = null)
--
-- Takes a worker away: its tasks fail or are retried, its links go, and jobs
-- nobody serves any more are retired. Disconnects and sweeps end here too. With
-- `silent_for`, a worker that was heard of more recently is left alone.
select iif(:is_superuser, null, :actor) as v_actor;
-- include find_worker
select json_group_array(w.id) as v_workers
from workers as w
where w.id = :worker_id and w.last_heartbeat_at <= coalesce(now() - :silent_for, w.last_heartbeat_at);
-- include cleanup_workers
select :v_failed as failed, :v_retried as retried, :v_retired_jobs as retired_jobs;
