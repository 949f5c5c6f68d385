-- People sign in with a browser: a session stands behind a cookie, a sign-in
-- link opens one, once. Both are secrets, so only their hashes are kept.

create table pgjobs.sessions (
  id uuid primary key default gen_random_uuid(),
  session_hash bytea not null,
  user_id text not null,
  is_superuser boolean not null default false,
  token_id uuid references pgjobs.api_tokens on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint session_hashes_are_unique unique (session_hash),
  constraint sessions_name_their_user check (user_id <> '' and length(user_id) <= 200)
);
create index sessions_in_time on pgjobs.sessions (expires_at);

comment on table pgjobs.sessions is 'Who is signed in with a browser; only hashes are kept.';
comment on column pgjobs.sessions.id is 'Internal id.';
comment on column pgjobs.sessions.session_hash is 'SHA-256 of what the cookie holds.';
comment on column pgjobs.sessions.user_id is 'Who is signed in.';
comment on column pgjobs.sessions.is_superuser is 'Whether they may do what superusers may.';
comment on column pgjobs.sessions.token_id is 'The API token it was opened with, which it does not outlive.';
comment on column pgjobs.sessions.created_at is 'When it was opened.';
comment on column pgjobs.sessions.expires_at is 'When it ceases to count.';

create table pgjobs.sign_ins (
  sign_in_hash bytea primary key,
  user_id text not null,
  is_superuser boolean not null default false,
  expires_at timestamptz not null,
  constraint sign_ins_name_their_user check (user_id <> '' and length(user_id) <= 200)
);
create index sign_ins_in_time on pgjobs.sign_ins (expires_at);

comment on table pgjobs.sign_ins is 'Sign-in links nobody has followed yet; only hashes are kept.';
comment on column pgjobs.sign_ins.sign_in_hash is 'SHA-256 of what the link holds.';
comment on column pgjobs.sign_ins.user_id is 'Whom it signs in.';
comment on column pgjobs.sign_ins.is_superuser is 'Whether they may do what superusers may.';
comment on column pgjobs.sign_ins.expires_at is 'When it ceases to count.';
