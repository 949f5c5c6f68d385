-- Says that a provider's answer to a question has come: records
-- provider_result_ready. Only the provider's owner or a superuser may answer.
create function pgjobs.answer_read(
  provider text, request_hash text, actor text default null, is_superuser boolean default false
)
returns setof pgjobs.providers
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_provider pgjobs.providers := pgjobs._find_provider(
    answer_read.provider, null, answer_read.actor, answer_read.is_superuser
  );
begin
  insert into pgjobs.events (at, kind, room, worker_id, actor, fields)
  values (
    pgjobs._now(), 'provider_result_ready', v_provider.room, v_provider.worker_id, answer_read.actor,
    jsonb_build_object(
      'provider_id', v_provider.id, 'provider_name', v_provider.full_name, 'request_hash', answer_read.request_hash
    )
  );
  return next v_provider;
end
$$;

comment on function pgjobs.answer_read is
  'Announces an answer. Example: select id from pgjobs.answer_read(''@global:filesystem:local'', ''<hash>'')';
