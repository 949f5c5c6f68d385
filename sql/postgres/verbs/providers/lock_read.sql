-- Marks a question as passed on, for a while; is_first tells the one caller who
-- should do so. `do update` waits for a concurrent caller and then sees its mark.
create function pgjobs.lock_read(key text, lifetime interval)
returns table (is_first boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
begin
  insert into pgjobs.reads_in_flight as f (key, expires_at)
  values (lock_read.key, v_now + lock_read.lifetime)
  on conflict (key) do update set expires_at = excluded.expires_at where f.expires_at <= v_now;
  is_first := found;
  return next;
end
$$;

comment on function pgjobs.lock_read is
  'Marks a question as passed on. Example: select is_first from pgjobs.lock_read(''<key>'', ''30 seconds'')';
