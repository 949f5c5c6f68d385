-- retire_provider(provider text, actor text = null, is_superuser boolean = false)
--
-- Takes a provider away.
select null as v_room, iif(:is_superuser, null, :actor) as v_actor;
-- include find_provider
delete from providers where id = :v_provider returning *;
