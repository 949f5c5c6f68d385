-- Passes a question on to its provider: records provider_request, which whoever
-- speaks to the provider forwards.
create function pgjobs.request_read(provider text, request_hash text, params text, actor text default null)
returns setof pgjobs.providers
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_provider pgjobs.providers := pgjobs._find_provider(request_read.provider);
begin
  insert into pgjobs.events (at, kind, room, worker_id, actor, fields)
  values (
    pgjobs._now(), 'provider_request', v_provider.room, v_provider.worker_id, request_read.actor,
    jsonb_build_object(
      'provider_id', v_provider.id, 'provider_name', v_provider.full_name,
      'request_id', request_read.request_hash, 'params', request_read.params
    )
  );
  return next v_provider;
end
$$;

comment on function pgjobs.request_read is
  'Passes a question on to its provider. Example: select id from pgjobs.request_read(''@global:filesystem:local'', ''<hash>'', ''{}'')';
