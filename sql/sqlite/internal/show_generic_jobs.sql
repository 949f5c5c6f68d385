-- Shows :v_tasks, an array of ids, in the words of the generic job manager and in that order. Secrets of payloads
-- are hidden, unless settings say otherwise or :v_is_claimed is true: whoever runs them needs them.
select
  t.id,
  task_uuid(t.id, (select s.task_key from secrets as s)) as uuid,
  j.room as domain,
  j.category as queue,
  j.name as job_type,
  t.owner as owner_user_id,
  iif(matches(t.project, '-?[0-9]{1,18}'), cast(t.project as integer), null) as project_id,
  t.idempotency_key,
  iif(:v_is_claimed or (select c.show_secrets from settings as c), t.payload, redact_document(t.payload)) as payload,
  t.result,
  case t.status
    when 'pending' then 'queued'
    when 'claimed' then 'processing'
    when 'running' then 'processing'
    when 'ignored' then 'cancelled'
    else t.status
  end as status,
  t.priority,
  t.max_attempts - 1 as max_retries,
  -- An attempt that holds or held the lease is no retry yet; one cancelled in line held none.
  t.attempt - (t.token is not null and t.status not in ('pending', 'ignored')) as retry_count,
  t.due_at as available_at,
  t.until as leased_until,
  t.token as lease_id,
  coalesce(t.holder, t.worker_id) as worker_id,
  t.claimed_at as acquired_at,
  coalesce(t.error, a.error) as error_message,
  coalesce(t.error, a.error) as last_error,
  t.cancel_requested_at,
  iif(t.status = 'cancelled', t.ended_at, null) as cancelled_at,
  t.reason as cancellation_reason,
  t.created_at,
  max(
    t.created_at, coalesce(a.ended_at, 0), coalesce(t.claimed_at, 0), coalesce(t.cancel_requested_at, 0),
    coalesce(t.ended_at, 0)
  ) as updated_at,
  iif(t.status = 'completed', t.ended_at, null) as completed_at
from json_each(:v_tasks) as i
cross join tasks as t on t.id = i.value
cross join jobs as j on j.id = t.job_id
left join attempts as a on a.id = (select max(e.id) from attempts as e where e.task_id = t.id)
order by i.key;
