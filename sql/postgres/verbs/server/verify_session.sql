-- Who is signed in; refused when the session is unknown, expired or closed, or
-- its API token was taken back.
create function pgjobs.verify_session(session text)
returns table (user_id text, is_superuser boolean, expires_at timestamptz, rooms text[])
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select s.user_id, s.is_superuser, s.expires_at, s.rooms
  from pgjobs.sessions as s
  left join pgjobs.api_tokens as t on t.id = s.token_id
  where s.session_hash = sha256(convert_to(verify_session.session, 'UTF8'))
    and s.expires_at > pgjobs._now()
    and t.revoked_at is null;
  if not found then
    perform pgjobs._refuse('unauthorized', 'The session is unknown, expired or closed');
  end if;
end
$$;

comment on function pgjobs.verify_session is
  'Who is signed in. Example: select user_id from pgjobs.verify_session(''pgc_…'')';
