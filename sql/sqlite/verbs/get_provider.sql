-- get_provider(provider text, room text = null, actor text = null, is_superuser boolean = false)
--
-- One provider, by address or public id. With a room, only one visible from
-- there; with an actor, only one that belongs to them.
select :room as v_room, iif(:is_superuser, null, :actor) as v_actor;
-- include find_provider
select p.* from providers as p where p.id = :v_provider;
