select
  coalesce(array_agg(task_id), '{}') as ids,
  coalesce(array_agg(token), '{}') as tokens,
  count(payload) as payloads
from pgjobs.claim_tasks(holder => 'pgbench', lease => '1 minute', job_ids => array[1], quantity => :batch) \gset
select count(*) from pgjobs.complete_tasks(:ids, :tokens);
