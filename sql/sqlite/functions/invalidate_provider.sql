-- invalidate_provider(provider text, actor text = null, is_superuser boolean = false)
--
-- Forgets every answer of a provider that is kept, and what it was asked:
-- whoever reads next asks again.
select null as v_room, iif(:is_superuser, null, :actor) as v_actor;
-- include find_provider
select count(*) as v_forgotten, 'provider-result:' || :v_provider || ':' as v_keys
from reads as r
where instr(r.key, 'provider-result:' || :v_provider || ':') = 1;
delete from reads_in_flight where instr(key, :v_keys) = 1;
delete from reads where instr(key, :v_keys) = 1;
insert into events (at, kind, room, actor, message)
select now(), 'provider_invalidated', p.room, :actor, p.full_name
from providers as p
where p.id = :v_provider;
select :v_forgotten as forgotten;
