-- Takes a token back, at once and for good.
create function pgjobs.revoke_token(token_id uuid)
returns table (revoked_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  update pgjobs.api_tokens as t
  set revoked_at = coalesce(t.revoked_at, pgjobs._now())
  where t.id = revoke_token.token_id
  returning t.revoked_at;
  if not found then
    perform pgjobs._refuse('token-not-found', format('Token %s does not exist', revoke_token.token_id),
      null, 'select id, name from pgjobs.list_tokens()');
  end if;
end
$$;

comment on function pgjobs.revoke_token is
  'Revokes a token. Example: select * from pgjobs.revoke_token(''<token id>'')';
