-- open_session(
--   of_user text = null,
--   as_superuser boolean = false,
--   token text = null,
--   sign_in text = null,
--   lifetime interval = null,
--   of_rooms text[] = null
-- )
--
-- Signs a user in and shows what the cookie is to hold this once. Who it is says
-- a sign-in, which is used up, or an API token, which the session does not
-- outlive, or the caller. It lasts twelve hours unless said otherwise.
select refuse('validation-error', 'A session needs one of user, token and sign-in, and a lifetime longer than zero')
where (:of_user is not null) + (:token is not null) + (:sign_in is not null) <> 1
  or :of_user = '' or length(:of_user) > 200 or :lifetime <= 0;
select refuse('validation-error', 'Closed rooms need Postgres') where :of_rooms is not null;
select null as v_token_id, :of_user as v_user_id, :as_superuser as v_is_superuser, null as v_token_expires_at
where :of_user is not null
union all
select null, s.user_id, s.is_superuser, null
from sign_ins as s
where s.sign_in_hash = sha256(coalesce(:sign_in, '')) and s.expires_at > now()
union all
select t.id, t.user_id, t.is_superuser, t.expires_at
from api_tokens as t
where t.token_hash = sha256(coalesce(:token, ''))
  and t.revoked_at is null
  and (t.expires_at is null or t.expires_at > now());
select refuse('unauthorized', 'The token or sign-in is unknown, expired or used up')
where :v_user_id is null;
delete from sign_ins where expires_at <= now() or sign_in_hash = sha256(coalesce(:sign_in, ''));
delete from sessions where expires_at <= now();
select 'pgc_' || replace(uuid4() || uuid4(), '-', '') as v_session, now() + coalesce(:lifetime, 43200000000) as v_end;
insert into sessions (session_hash, user_id, is_superuser, token_id, created_at, expires_at)
values (
  sha256(:v_session), :v_user_id, :v_is_superuser, :v_token_id, now(),
  min(:v_end, coalesce(:v_token_expires_at, :v_end))
);
select :v_session as session, s.user_id, s.is_superuser, s.expires_at
from sessions as s
where s.session_hash = sha256(:v_session);
