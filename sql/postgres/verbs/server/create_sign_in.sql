-- Creates what a sign-in link holds and shows it this once: it opens one session,
-- within ten minutes unless said otherwise.
create function pgjobs.create_sign_in(
  user_id text, is_superuser boolean default false, lifetime interval default null, rooms text[] default null
)
returns table (sign_in text, expires_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  if create_sign_in.user_id is null or create_sign_in.user_id = '' or length(create_sign_in.user_id) > 200
    or create_sign_in.lifetime <= interval '0'
  then
    perform pgjobs._refuse('validation-error', 'A sign-in needs a user and a lifetime longer than zero');
  end if;
  perform pgjobs._check_rooms(create_sign_in.rooms);
  sign_in := 'pgl_' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  expires_at := pgjobs._now() + coalesce(create_sign_in.lifetime, interval '10 minutes');
  insert into pgjobs.sign_ins (sign_in_hash, user_id, is_superuser, expires_at, rooms)
  values (
    sha256(convert_to(sign_in, 'UTF8')), create_sign_in.user_id, create_sign_in.is_superuser, expires_at,
    coalesce(create_sign_in.rooms, '{}')
  );
  return next;
end
$$;

comment on function pgjobs.create_sign_in is
  'Creates what a one-time sign-in link holds. Example: select sign_in from pgjobs.create_sign_in(''ada'')';
