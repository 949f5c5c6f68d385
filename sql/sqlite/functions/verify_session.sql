-- verify_session(session text)
--
-- Who is signed in; refused when the session is unknown, expired or closed, or
-- its API token was taken back.
select s.session_hash as v_session
from sessions as s
left join api_tokens as t on t.id = s.token_id
where s.session_hash = sha256(:session) and s.expires_at > now() and t.revoked_at is null;
select refuse('unauthorized', 'The session is unknown, expired or closed')
where :v_session is null;
select s.user_id, s.is_superuser, s.expires_at, null as rooms from sessions as s where s.session_hash = :v_session;
