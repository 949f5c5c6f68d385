-- Finds the provider at :provider, by public id or address, as :v_provider;
-- refuses one that cannot be seen from :v_room or is not :v_actor's.
select refuse(
  'provider-not-found', 'Invalid provider name format: ' || :provider, null, 'Write room:category:name.'
)
where not matches(:provider, '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[^:]+:[^:]+:.+');
select p.id as v_provider
from providers as p
where (p.id = lower(:provider) or p.full_name = :provider)
  and p.room in ('@global', coalesce(:v_room, p.room));
select refuse('provider-not-found', 'Provider ' || :provider || ' does not exist')
where :v_provider is null;
select refuse('forbidden', 'Provider ' || :provider || ' belongs to someone else')
from providers as p
where p.id = :v_provider and p.owner is not coalesce(:v_actor, p.owner);
