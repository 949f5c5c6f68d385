-- Shows :v_tasks, an array of ids, in the words of the generic job manager and in that order. Secrets of payloads
-- are hidden, unless settings say otherwise or :v_is_claimed is true: whoever runs them needs them.
select
  v.id, v.uuid, v.domain, v.queue, v.job_type, v.owner_user_id, v.project_id, v.idempotency_key,
  iif(:v_is_claimed, t.payload, v.payload) as payload,
  v.result, v.status, v.priority, v.max_retries, v.retry_count, v.available_at, v.leased_until, v.lease_id,
  v.worker_id, v.acquired_at, v.error_message, v.last_error, v.cancel_requested_at, v.cancelled_at,
  v.cancellation_reason, v.created_at, v.updated_at,
  v.completed_at
from json_each(:v_tasks) as i
cross join generic_jobs as v on v.id = i.value
cross join tasks as t on t.id = v.id
order by i.key;
