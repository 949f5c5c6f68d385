-- claim_and_show(worker_id uuid, actor text = null, durable boolean = true)
--
-- Claims one task for a worker, under a lease that lives by heartbeats, and
-- shows it as HTTP does, with the lease's token, which nobody else is shown; no
-- row when nothing is due. Never an @internal one. Every claim is as `durable` as
-- the file.
select true as v_remote;
call claim_tasks(worker_id => :worker_id, remote => :v_remote, actor => :actor) into v_claimed;
select
  a.id, a.uuid, a.job, a.room, a.status, a.created_at, a.started_at, a.ended_at, a.worker_id, a.error,
  t.payload, a.result, a.queue_position,
  json_extract(:v_claimed, '$[0].token') as token,
  json_extract(:v_claimed, '$[0].trace_context') as trace_context
from task_answer as a
cross join tasks as t on t.id = a.id
where a.id = json_extract(:v_claimed, '$[0].task_id');
