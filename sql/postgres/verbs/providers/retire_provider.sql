-- Takes a provider away.
create function pgjobs.retire_provider(provider text, actor text default null, is_superuser boolean default false)
returns setof pgjobs.providers
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_provider pgjobs.providers := pgjobs._find_provider(
    retire_provider.provider, null, retire_provider.actor, retire_provider.is_superuser
  );
begin
  delete from pgjobs.providers as p where p.id = v_provider.id;
  return next v_provider;
end
$$;

comment on function pgjobs.retire_provider is
  'Removes a provider. Example: select full_name from pgjobs.retire_provider(''@global:filesystem:local'')';
