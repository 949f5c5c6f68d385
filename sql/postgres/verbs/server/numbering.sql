-- What the public ids of this queue are made of: its node, and a digest of its key.
-- Two queues that answer the same give out the same ids: they are one, or one was
-- copied from the other, and nobody could tell their tasks apart.
create function pgjobs.numbering()
returns table (node integer, key_digest text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select pgjobs._node(), left(encode(sha256(s.task_key), 'hex'), 16)
  from pgjobs.secrets as s;
end
$$;

comment on function pgjobs.numbering is
  'What the public ids of this queue are made of. Example: select node, key_digest from pgjobs.numbering()';
