-- People sign in with a browser: a session stands behind a cookie, a sign-in
-- link opens one, once. Both are secrets, so only their hashes are kept.

create table sessions (
  session_hash text primary key,
  user_id text not null,
  is_superuser integer not null default 0,
  token_id text references api_tokens on delete cascade,
  created_at integer not null,
  expires_at integer not null,
  constraint sessions_name_their_user check (user_id <> '' and length(user_id) <= 200)
) strict, without rowid;
create index sessions_in_time on sessions (expires_at);

create table sign_ins (
  sign_in_hash text primary key,
  user_id text not null,
  is_superuser integer not null default 0,
  expires_at integer not null,
  constraint sign_ins_name_their_user check (user_id <> '' and length(user_id) <= 200)
) strict, without rowid;
create index sign_ins_in_time on sign_ins (expires_at);
