-- revoke_token(token_id uuid)
--
-- Takes a token back, at once and for good.
select refuse('token-not-found', 'Token ' || :token_id || ' does not exist')
where not exists (select 1 from api_tokens as t where t.id = :token_id);
update api_tokens set revoked_at = coalesce(revoked_at, now()) where id = :token_id;
select t.revoked_at from api_tokens as t where t.id = :token_id;
