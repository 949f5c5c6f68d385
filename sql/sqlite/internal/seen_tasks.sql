-- The tasks of :v_found as the console shows them, in that order, as :v_documents.
select json_group_array(json(f.document)) as v_documents
from (
  select
    json_object(
      'id', v.uuid,
      'job', v.job,
      'room', v.room,
      'status', v.status,
      'phase', v.phase,
      'priority', v.priority,
      'attempt', v.attempt,
      'max_attempts', v.max_attempts,
      'created_at', iso_time(v.created_at),
      'due_at', iso_time(v.due_at),
      'claimed_at', iso_time(v.claimed_at),
      'started_at', iso_time(v.started_at),
      'ended_at', iso_time(v.ended_at),
      'until', iso_time(v.until),
      'worker_id', v.worker_id,
      'holder', v.holder,
      'error', v.error,
      'error_kind', v.error_kind,
      'progress', json(v.progress),
      'cancel_requested_at', iso_time(v.cancel_requested_at),
      'reason', v.reason,
      'submitter', v.submitter,
      'owner', v.owner,
      'project', v.project,
      'tags', json(v.tags),
      'idempotency_key', v.idempotency_key,
      'allows', json(case v.status
        when 'failed' then '["retry", "ignore"]'
        when 'cancelled' then '["retry"]'
        when 'ignored' then '["retry", "unignore"]'
        when 'claimed' then '["cancel"]'
        when 'running' then '["cancel"]'
        when 'pending' then iif(v.phase = 'due', '["ignore", "cancel"]', '["retry", "ignore", "cancel"]')
        else '[]'
      end)
    ) as document
  from json_each(:v_found) as n
  cross join task as v on v.id = n.value
  order by n.key
) as f;
