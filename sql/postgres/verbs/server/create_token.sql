-- Creates an API token for a user and shows it this once: only its hash is kept. Where
-- rooms are closed, its bearer is a member of `rooms`.
create function pgjobs.create_token(
  user_id text, name text default null, is_superuser boolean default false, lifetime interval default null,
  rooms text[] default null
)
returns table (id uuid, token text, expires_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  if create_token.user_id is null or create_token.user_id = '' or length(create_token.user_id) > 200
    or length(create_token.name) > 200 or create_token.lifetime <= interval '0'
  then
    perform pgjobs._refuse('validation-error', 'A token needs a user, short names and a lifetime longer than zero');
  end if;
  perform pgjobs._check_rooms(create_token.rooms);
  token := 'pgj_' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  insert into pgjobs.api_tokens as t (token_hash, user_id, name, is_superuser, created_at, expires_at, rooms)
  values (
    sha256(convert_to(token, 'UTF8')), create_token.user_id, create_token.name, create_token.is_superuser, pgjobs._now(),
    pgjobs._now() + create_token.lifetime, coalesce(create_token.rooms, '{}')
  )
  returning t.id, t.expires_at into id, expires_at;
  return next;
end
$$;

comment on function pgjobs.create_token is
  'Creates an API token. Example: select token from pgjobs.create_token(''ada'', ''build server'', lifetime => ''90 days'')';
