-- Deletes what floor_claim.sql left behind, each client its own share: -D clients=8 -D last=0.
select coalesce(array_agg(id), '{}') as ids, coalesce(max(id), :last) as last
from (
  select id
  from floor_queue
  where id > :last and is_claimed and id % :clients = :client_id
  order by id
  limit :batch
) as mine \gset
delete from floor_queue where id = any(:ids);
