-- Keeps a worker alive, as pgjobs.heartbeat_worker does, and shows which of its tasks it
-- should stop, because their cancellation was requested: a row for each, or one without
-- a task. For workers that never renew, as those over HTTP.
create function pgjobs.heartbeat_and_show(worker_id uuid, actor text default null)
returns table (id uuid, last_heartbeat_at timestamptz, task_uuid uuid)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  -- A statement of its own, so that the next one sees what it wrote.
  perform from pgjobs.heartbeat_worker(heartbeat_and_show.worker_id, heartbeat_and_show.actor);
  return query
  select w.id, w.last_heartbeat_at, pgjobs.task_uuid(l.task_id)
  from pgjobs.workers as w
  -- By the key: the pages of a busy table are mostly empty.
  left join pgjobs.leases as l on l.task_id > 0 and l.worker_id = w.id and l.cancel_requested_at is not null
  where w.id = heartbeat_and_show.worker_id;
end
$$;

comment on function pgjobs.heartbeat_and_show is
  'Keeps a worker alive and shows what it should stop. Example: select task_uuid from pgjobs.heartbeat_and_show(''<worker id>'')';
