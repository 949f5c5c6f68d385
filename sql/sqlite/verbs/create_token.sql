-- create_token(
--   user_id text, name text = null, is_superuser boolean = false, lifetime interval = null,
--   rooms text[] = null
-- )
--
-- Creates an API token for a user and shows it this once: only its hash is kept.
select refuse('validation-error', 'A token needs a user, short names and a lifetime longer than zero')
where :user_id = '' or length(:user_id) > 200 or length(:name) > 200 or :lifetime <= 0;
select refuse('validation-error', 'Closed rooms need Postgres') where :rooms is not null;
select uuid4() as v_id, 'pgj_' || replace(uuid4() || uuid4(), '-', '') as v_token;
insert into api_tokens (id, token_hash, user_id, name, is_superuser, created_at, expires_at)
values (:v_id, sha256(:v_token), :user_id, :name, :is_superuser, now(), now() + :lifetime);
select t.id, :v_token as token, t.expires_at from api_tokens as t where t.id = :v_id;
