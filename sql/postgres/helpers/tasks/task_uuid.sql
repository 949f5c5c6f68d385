-- Public ids of tasks: a UUIDv8 of 60 masked bits of the number and 62 keyed
-- check bits. Parsing one needs no lookup, and guessing one is hopeless.
create function pgjobs._task_mask(check_bits bytea, key bytea)
returns bigint
language sql immutable strict
return ('x' || encode(substr(sha256(check_bits || key), 1, 8), 'hex'))::bit(64)::bigint & x'0fffffffffffffff'::bigint;

comment on function pgjobs._task_mask is
  'What hides a task''s number in its public id. Example: select pgjobs._task_mask(''\x00'', ''\x00'')';

-- For views, which look the key up once for all their rows.
create function pgjobs._uuid_of(task_id bigint, key bytea)
returns uuid
language plpgsql immutable strict parallel safe
as $$
declare
  v_hash bytea := substr(sha256(key || int8send(task_id)), 1, 8);
  v_check bytea := set_byte(v_hash, 0, 128 | (get_byte(v_hash, 0) & 63));
  v_hidden text := lpad(to_hex(task_id # pgjobs._task_mask(v_check, key)), 15, '0');
begin
  return (left(v_hidden, 12) || '8' || right(v_hidden, 3) || encode(v_check, 'hex'))::uuid;
end
$$;

comment on function pgjobs._uuid_of is
  'The public id of a task under a key. Example: see pgjobs.task_uuid, which knows the queue''s key';

create function pgjobs.task_uuid(task_id bigint)
returns uuid
language plpgsql stable strict parallel safe security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return pgjobs._uuid_of(task_id, (select s.task_key from pgjobs.secrets as s));
end
$$;

comment on function pgjobs.task_uuid is 'The public id of a task. Example: select pgjobs.task_uuid(42)';

create function pgjobs.task_id(task_uuid uuid)
returns bigint
language plpgsql stable strict parallel safe security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_key bytea := (select s.task_key from pgjobs.secrets as s);
  v_bytes bytea := uuid_send(task_id.task_uuid);
  v_hex text := encode(v_bytes, 'hex');
  v_id bigint := ('x0' || left(v_hex, 12) || substr(v_hex, 14, 3))::bit(64)::bigint
    # pgjobs._task_mask(substr(v_bytes, 9, 8), v_key);
begin
  -- Anything but a uuid made here fails to come back as itself.
  return case when pgjobs._uuid_of(v_id, v_key) = task_id.task_uuid then v_id end;
end
$$;

comment on function pgjobs.task_id is
  'The number behind a public id, null for one this queue never issued. Example: select pgjobs.task_id(pgjobs.task_uuid(42))';
