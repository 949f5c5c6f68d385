select count(payload)
from pgjobs.claim_tasks(holder => 'pgbench', lease => '1 minute', job_ids => array[1], quantity => :batch);
