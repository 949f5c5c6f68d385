-- Registers a provider, or changes the one at this address, which must be the
-- actor's own; a superuser takes another's over. Without a worker named, one is
-- created. Answers of the one before are forgotten with a take-over, and its
-- questions are asked again.
create function pgjobs.register_provider(
  room text,
  category text,
  name text,
  schema jsonb default '{}',
  content_type text default 'application/json',
  worker_id uuid default null,
  actor text default null,
  is_superuser boolean default false
)
returns table (provider_id uuid, registered text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_worker uuid := register_provider.worker_id;
  v_provider pgjobs.providers;
  v_is_another boolean;
  v_keys text;
begin
  perform pgjobs._check_provider(
    register_provider.room, register_provider.category, register_provider.name, register_provider.schema,
    register_provider.content_type, register_provider.actor, register_provider.is_superuser
  );
  if v_worker is not null and not exists (
    select from pgjobs.workers as w
    where w.id = v_worker and w.owner is not distinct from coalesce(register_provider.actor, w.owner)
  ) then
    perform pgjobs._refuse('worker-not-found', format('Worker %s does not exist', v_worker));
  end if;
  -- Two first registrations must not both find nothing.
  perform pg_advisory_xact_lock(hashtextextended(
    'pgjobs.provider:' || register_provider.room || ':' || register_provider.category || ':' || register_provider.name, 0
  ));
  select p.* into v_provider from pgjobs.providers as p
  where p.room = register_provider.room and p.category = register_provider.category and p.name = register_provider.name;
  v_is_another := v_provider.id is not null and register_provider.actor is not null
    and v_provider.owner is distinct from register_provider.actor;
  if v_is_another and not register_provider.is_superuser then
    perform pgjobs._refuse('forbidden', format('Provider %s belongs to someone else', v_provider.full_name));
  end if;
  registered := case when v_provider.id is null then 'created' else 'changed' end;
  if v_worker is null and (v_provider.id is null or v_is_another) then
    v_worker := (select w.id from pgjobs.register_worker(actor => register_provider.actor) as w);
  end if;
  insert into pgjobs.providers as p (room, category, name, schema, content_type, owner, worker_id, created_at)
  values (
    register_provider.room, register_provider.category, register_provider.name, register_provider.schema,
    register_provider.content_type, register_provider.actor, coalesce(v_worker, v_provider.worker_id), pgjobs._now()
  )
  on conflict (room, category, name) do update
  set
    schema = excluded.schema, content_type = excluded.content_type, worker_id = excluded.worker_id,
    owner = coalesce(excluded.owner, p.owner)
  returning p.id into provider_id;
  if v_is_another then
    v_keys := pgjobs._reads_of_provider(provider_id);
    delete from pgjobs.reads_in_flight as f where starts_with(f.key, v_keys);
    delete from pgjobs.reads as r where starts_with(r.key, v_keys);
  end if;
  return next;
end
$$;

comment on function pgjobs.register_provider is
  'Registers a provider. Example: select * from pgjobs.register_provider(''@global'', ''filesystem'', ''local'')';
