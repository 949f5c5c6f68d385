-- request_read(provider text, request_hash text, params text, actor text = null)
--
-- Passes a question on to its provider: records provider_request, which whoever
-- speaks to the provider forwards.
select null as v_room, null as v_actor;
-- include find_provider
insert into events (at, kind, room, worker_id, actor, fields)
select
  now(), 'provider_request', p.room, p.worker_id, :actor,
  json_object('provider_id', p.id, 'provider_name', p.full_name, 'request_id', :request_hash, 'params', :params)
from providers as p
where p.id = :v_provider;
select p.* from providers as p where p.id = :v_provider;
