-- Finds a provider by public id or address; refuses what does not exist, cannot
-- be seen from a room, or belongs to somebody else than the actor.
create function pgjobs._find_provider(
  provider text, room text default null, actor text default null, is_superuser boolean default false
)
returns pgjobs.providers
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_provider pgjobs.providers;
begin
  if _find_provider.room is not null then
    perform pgjobs._look_into(_find_provider.room);
  end if;
  if _find_provider.provider ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then
    select p.* into v_provider from pgjobs.providers as p where p.id = _find_provider.provider::uuid;
  elsif _find_provider.provider ~ '^[^:]+:[^:]+:.' then
    select p.* into v_provider from pgjobs.providers as p where p.full_name = _find_provider.provider;
  else
    perform pgjobs._refuse('provider-not-found', 'Invalid provider name format: ' || coalesce(_find_provider.provider, 'null'),
      null, 'Write room:category:name.');
  end if;
  if v_provider.id is null
    or v_provider.room not in ('@global', coalesce(_find_provider.room, v_provider.room))
    or (v_provider.room <> '@global' and pgjobs._is_closed(v_provider.room))
  then
    perform pgjobs._refuse('provider-not-found', format('Provider %s does not exist', _find_provider.provider));
  end if;
  if _find_provider.actor is not null and not _find_provider.is_superuser
    and v_provider.owner is distinct from _find_provider.actor
  then
    perform pgjobs._refuse('forbidden', format('Provider %s belongs to someone else', _find_provider.provider));
  end if;
  return v_provider;
end
$$;

comment on function pgjobs._find_provider is
  'A provider by public id or address. Example: select (pgjobs._find_provider(''@global:filesystem:local'')).id';

-- Every reason to refuse a provider's registration.
create function pgjobs._check_provider(
  room text, category text, name text, schema jsonb, content_type text, actor text, is_superuser boolean
)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._check_room(room);
  perform pgjobs._enter(_check_provider.room);
  if room = '@internal' then
    perform pgjobs._refuse('forbidden', 'There are no @internal providers');
  end if;
  if actor is not null and not is_superuser and room = '@global' then
    perform pgjobs._refuse('forbidden', 'Only a superuser may register providers in @global');
  end if;
  if category = '' or category ~ ':' or length(category) > 200 then
    perform pgjobs._refuse('invalid-category', 'A category has 1 to 200 characters and no colon');
  end if;
  if name = '' or length(name) > 200 then
    perform pgjobs._refuse('validation-error', 'A provider''s name has 1 to 200 characters');
  end if;
  if octet_length(schema::text) > 65536 or jsonb_path_exists(schema, '$.**{33}') then
    perform pgjobs._refuse('validation-error', 'A schema has at most 65536 bytes and 32 levels');
  end if;
  if pgjobs._has_long_number(schema) then
    perform pgjobs._refuse('validation-error', 'A number in a schema has at most 4300 digits');
  end if;
  if content_type !~ '^[!#$&^_.+a-zA-Z0-9-]+/[!#$&^_.+a-zA-Z0-9-]+( *; *[a-zA-Z0-9_.-]+=("[ !#-\[\]-~]*"|[!#-:<-~]+))*$'
    or length(content_type) > 200
  then
    perform pgjobs._refuse('validation-error', 'content_type must be a media type', format('Got %L.', left(content_type, 200)));
  end if;
end
$$;

comment on function pgjobs._check_provider is
  'Refuses providers that cannot be. Example: see pgjobs.register_provider, which calls it first';

-- What the keys of a provider's answers, and of its questions in flight, begin with.
create function pgjobs._reads_of_provider(provider_id uuid)
returns text
language sql immutable
return 'provider-result:' || provider_id || ':';

comment on function pgjobs._reads_of_provider is
  'What keys of a provider''s answers begin with. Example: select pgjobs._reads_of_provider(gen_random_uuid())';

-- Removes answers and in-flight marks that have expired.
create function pgjobs._sweep_reads(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_removed integer;
begin
  delete from pgjobs.reads_in_flight as f
  where f.ctid = any (array(
    select e.ctid from pgjobs.reads_in_flight as e
    where e.expires_at <= _sweep_reads.now
    limit _sweep_reads.batch
    for update skip locked
  ));
  delete from pgjobs.reads as r
  where r.ctid = any (array(
    select e.ctid from pgjobs.reads as e
    where e.expires_at <= _sweep_reads.now
    limit _sweep_reads.batch
    for update skip locked
  ));
  get diagnostics v_removed = row_count;
  return v_removed;
end
$$;

comment on function pgjobs._sweep_reads is 'Removes expired answers. Example: select pgjobs._sweep_reads(pgjobs._now(), 1000)';
