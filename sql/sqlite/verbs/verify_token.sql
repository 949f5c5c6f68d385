-- verify_token(token text)
--
-- Whom a token stands for; refused when it is unknown, expired or revoked.
select t.id as v_id
from api_tokens as t
where t.token_hash = sha256(:token)
  and t.revoked_at is null
  and (t.expires_at is null or t.expires_at > now());
select refuse('unauthorized', 'The token is unknown, expired or revoked')
where :v_id is null;
select t.user_id, t.is_superuser, null as rooms from api_tokens as t where t.id = :v_id;
