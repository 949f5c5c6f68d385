-- Removes some of what has expired, so that nobody needs to sweep it.
create function pgjobs._forget_expired_sessions(now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  delete from pgjobs.sessions as s
  where s.id = any (array(
    select e.id from pgjobs.sessions as e
    where e.expires_at <= _forget_expired_sessions.now
    order by e.expires_at
    limit 100
    for update skip locked
  ));
  delete from pgjobs.sign_ins as s
  where s.sign_in_hash = any (array(
    select e.sign_in_hash from pgjobs.sign_ins as e
    where e.expires_at <= _forget_expired_sessions.now
    order by e.expires_at
    limit 100
    for update skip locked
  ));
end
$$;

comment on function pgjobs._forget_expired_sessions is
  'Removes expired sessions and sign-ins, 100 at a time. Example: select pgjobs._forget_expired_sessions(pgjobs._now())';
