-- heartbeat_and_show(worker_id uuid, actor text = null)
--
-- Keeps a worker alive, as heartbeat_worker does, and shows which of its tasks it
-- should stop, because their cancellation was requested: a row for each, or one without
-- a task. For workers that never renew, as those over HTTP.
-- call heartbeat_worker(worker_id => :worker_id, actor => :actor) into v_beaten
select w.id, w.last_heartbeat_at, iif(t.id is null, null, task_uuid(t.id, s.task_key)) as task_uuid
from workers as w
cross join secrets as s
left join tasks as t
  on t.worker_id = w.id and t.status in ('claimed', 'running') and t.cancel_requested_at is not null
where w.id = :worker_id;
