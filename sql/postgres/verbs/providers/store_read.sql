-- Keeps an answer under a key and sends NOTIFY pgjobs.read with the key's hash,
-- for whoever waits for it.
create function pgjobs.store_read(key text, data bytea, lifetime interval)
returns table (expires_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  if store_read.key is null or length(store_read.key) > 1000 or store_read.data is null then
    perform pgjobs._refuse('validation-error', 'A read needs a key of at most 1000 characters and data');
  end if;
  insert into pgjobs.reads as r (key, data, expires_at)
  values (store_read.key, store_read.data, pgjobs._now() + store_read.lifetime)
  on conflict (key) do update set data = excluded.data, expires_at = excluded.expires_at
  returning r.expires_at into expires_at;
  -- A hash, because payloads are short and keys are not.
  perform pg_notify('pgjobs.read', md5(store_read.key));
  return next;
end
$$;

comment on function pgjobs.store_read is
  'Keeps an answer. Example: select expires_at from pgjobs.store_read(''<key>'', ''\x00'', ''5 minutes'')';
