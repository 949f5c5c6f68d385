-- Completes what claim.sql left behind, each client its own share: -D clients=8 -D last=0.
select
  coalesce(array_agg(task_id), '{}') as ids,
  coalesce(array_agg(token), '{}') as tokens,
  coalesce(max(task_id), :last) as last
from (
  select task_id, token
  from pgjobs.leases
  where task_id > :last and task_id % :clients = :client_id
  order by task_id
  limit :batch
) as mine \gset
select count(*) from pgjobs.complete_tasks(:ids, :tokens);
