-- Forgets every answer of a provider that is kept, and what it was asked:
-- whoever reads next asks again.
create function pgjobs.invalidate_provider(provider text, actor text default null, is_superuser boolean default false)
returns table (forgotten integer)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_provider pgjobs.providers := pgjobs._find_provider(
    invalidate_provider.provider, null, invalidate_provider.actor, invalidate_provider.is_superuser
  );
  v_keys text := pgjobs._reads_of_provider(v_provider.id);
  v_forgotten integer;
begin
  delete from pgjobs.reads_in_flight as f where starts_with(f.key, v_keys);
  delete from pgjobs.reads as r where starts_with(r.key, v_keys);
  get diagnostics v_forgotten = row_count;
  insert into pgjobs.events (at, kind, room, actor, message)
  values (pgjobs._now(), 'provider_invalidated', v_provider.room, invalidate_provider.actor, v_provider.full_name);
  return query select v_forgotten;
end
$$;

comment on function pgjobs.invalidate_provider is
  'Forgets what a provider has answered. Example: select forgotten from pgjobs.invalidate_provider(''lab:files:disk'')';
