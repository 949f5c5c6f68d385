-- create_sign_in(user_id text, is_superuser boolean = false, lifetime interval = null, rooms text[] = null)
--
-- Creates what a sign-in link holds and shows it this once: it opens one session,
-- within ten minutes unless said otherwise.
select refuse('validation-error', 'A sign-in needs a user and a lifetime longer than zero')
where :user_id = '' or length(:user_id) > 200 or :lifetime <= 0;
select refuse('validation-error', 'Closed rooms need Postgres') where :rooms is not null;
select
  'pgl_' || replace(uuid4() || uuid4(), '-', '') as v_sign_in,
  now() + coalesce(:lifetime, 600000000) as v_expires_at;
insert into sign_ins (sign_in_hash, user_id, is_superuser, expires_at)
values (sha256(:v_sign_in), :user_id, :is_superuser, :v_expires_at);
select :v_sign_in as sign_in, s.expires_at from sign_ins as s where s.sign_in_hash = sha256(:v_sign_in);
