-- Whom a token stands for; refused when it is unknown, expired or revoked.
create function pgjobs.verify_token(token text)
returns table (user_id text, is_superuser boolean, rooms text[])
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select t.user_id, t.is_superuser, t.rooms
  from pgjobs.api_tokens as t
  where t.token_hash = sha256(convert_to(verify_token.token, 'UTF8'))
    and t.revoked_at is null
    and (t.expires_at is null or t.expires_at > pgjobs._now());
  if not found then
    perform pgjobs._refuse('unauthorized', 'The token is unknown, expired or revoked');
  end if;
end
$$;

comment on function pgjobs.verify_token is
  'The user a token belongs to. Example: select user_id from pgjobs.verify_token(''pgj_…'')';
