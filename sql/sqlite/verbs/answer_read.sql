-- answer_read(provider text, request_hash text, actor text = null, is_superuser boolean = false)
--
-- Says that a provider's answer to a question has come: records
-- provider_result_ready. Only the provider's owner or a superuser may answer.
select null as v_room, iif(:is_superuser, null, :actor) as v_actor;
-- include find_provider
insert into events (at, kind, room, worker_id, actor, fields)
select
  now(), 'provider_result_ready', p.room, p.worker_id, :actor,
  json_object('provider_id', p.id, 'provider_name', p.full_name, 'request_hash', :request_hash)
from providers as p
where p.id = :v_provider;
select p.* from providers as p where p.id = :v_provider;
