-- The answers kept under these keys, as far as there are any that have not expired.
create function pgjobs.get_reads(keys text[])
returns table (key text, data bytea)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select r.key, r.data from pgjobs.reads as r where r.key = any (get_reads.keys) and r.expires_at > pgjobs._now();
end
$$;

comment on function pgjobs.get_reads is
  'Answers kept under some keys. Example: select key, length(data) from pgjobs.get_reads(array[''<key>''])';
