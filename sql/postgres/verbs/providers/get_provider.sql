-- One provider, by address or public id. With a room, only one visible from
-- there; with an actor, only one that belongs to them.
create function pgjobs.get_provider(
  provider text, room text default null, actor text default null, is_superuser boolean default false
)
returns setof pgjobs.providers
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return next pgjobs._find_provider(get_provider.provider, get_provider.room, get_provider.actor, get_provider.is_superuser);
end
$$;

comment on function pgjobs.get_provider is
  'One provider. Example: select id, schema from pgjobs.get_provider(''@global:filesystem:local'')';
