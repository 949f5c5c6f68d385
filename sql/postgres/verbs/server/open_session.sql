-- Signs a user in and shows what the cookie is to hold this once. Who it is says
-- a sign-in, which is used up, or an API token, which the session does not
-- outlive, or the caller; and with it of which rooms they are a member. It lasts twelve hours unless said otherwise.
create function pgjobs.open_session(
  of_user text default null,
  as_superuser boolean default false,
  token text default null,
  sign_in text default null,
  lifetime interval default null,
  of_rooms text[] default null
)
returns table (session text, user_id text, is_superuser boolean, expires_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_rooms text[] := coalesce(open_session.of_rooms, '{}');
  v_token_id uuid;
  v_token_expires_at timestamptz;
begin
  if num_nonnulls(open_session.of_user, open_session.token, open_session.sign_in) <> 1
    or open_session.of_user = '' or length(open_session.of_user) > 200 or open_session.lifetime <= interval '0'
  then
    perform pgjobs._refuse(
      'validation-error', 'A session needs one of user, token and sign-in, and a lifetime longer than zero'
    );
  end if;
  perform pgjobs._check_rooms(open_session.of_rooms);
  user_id := open_session.of_user;
  is_superuser := open_session.as_superuser;
  if open_session.sign_in is not null then
    delete from pgjobs.sign_ins as s
    where s.sign_in_hash = sha256(convert_to(open_session.sign_in, 'UTF8')) and s.expires_at > v_now
    returning s.user_id, s.is_superuser, s.rooms into user_id, is_superuser, v_rooms;
  elsif open_session.token is not null then
    select t.id, t.user_id, t.is_superuser, t.expires_at, t.rooms
    into v_token_id, user_id, is_superuser, v_token_expires_at, v_rooms
    from pgjobs.api_tokens as t
    where t.token_hash = sha256(convert_to(open_session.token, 'UTF8'))
      and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > v_now);
  end if;
  if user_id is null then
    perform pgjobs._refuse('unauthorized', 'The token or sign-in is unknown, expired or used up');
  end if;
  perform pgjobs._forget_expired_sessions(v_now);
  session := 'pgc_' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  expires_at := least(v_now + coalesce(open_session.lifetime, interval '12 hours'), v_token_expires_at);
  insert into pgjobs.sessions (session_hash, user_id, is_superuser, token_id, created_at, expires_at, rooms)
  values (sha256(convert_to(session, 'UTF8')), user_id, is_superuser, v_token_id, v_now, expires_at, v_rooms);
  return next;
end
$$;

comment on function pgjobs.open_session is
  'Signs a user in. Example: select session from pgjobs.open_session(token => ''pgj_…'')';
