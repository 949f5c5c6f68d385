-- Turns: which keys of a job have a task that may be claimed, in the order they are served.
--
-- Nobody waits for anybody here, and no slot is kept: what runs is counted from the
-- leases. Whoever brings a key something (a task, a free slot) sees to it that the key has
-- a turn: it relies on one that is there, or adds one. Whoever claims and finds that a key
-- can run nothing takes its turn away, unless somebody relies on it. Both say so by the
-- key's door, an advisory lock that is tried and never waited for: shared by those who
-- rely, alone by whoever takes away. So no key is forgotten, in whatever order they
-- commit, and a transaction that stays open stops nobody.

-- The two locks of a key: who counts what it may run, and whether its turn may go.
create function pgjobs._key_lock(job_id integer, key text)
returns bigint
language sql immutable
return hashtextextended(key, job_id);

comment on function pgjobs._key_lock is
  'The advisory lock under which a key''s tasks are claimed. Example: select pgjobs._key_lock(1, ''acme'')';

create function pgjobs._key_door(job_id integer, key text)
returns bigint
language sql immutable
return hashtextextended(key, -1 - job_id::bigint);

comment on function pgjobs._key_door is
  'The advisory lock of those who rely on a key''s turn. Example: select pgjobs._key_door(1, ''acme'')';

-- How many keys a claim serves and a transaction relies on: each is an entry in the
-- server's table of locks.
create function pgjobs._most_keys()
returns integer
language sql immutable
return 32;

comment on function pgjobs._most_keys is 'How many keys a claim serves at most. Example: select pgjobs._most_keys()';

-- Holds a key's door until the transaction ends, so that the turn that is there stays. Not
-- under another isolation, where the turn that is seen may be gone already.
create function pgjobs._rely_on_key(job_id integer, key text)
returns boolean
language plpgsql volatile
as $$
declare
  v_held integer := coalesce(nullif(current_setting('pgjobs.keys_relied_on', true), ''), '0')::integer;
begin
  if v_held >= pgjobs._most_keys() or current_setting('transaction_isolation') <> 'read committed'
    or not pg_try_advisory_xact_lock_shared(pgjobs._key_door(_rely_on_key.job_id, _rely_on_key.key))
  then
    return false;
  end if;
  perform set_config('pgjobs.keys_relied_on', (v_held + 1)::text, true);
  return true;
end
$$;

comment on function pgjobs._rely_on_key is
  'Sees to it that a key''s turn stays while this transaction lasts. Example: select pgjobs._rely_on_key(1, ''acme'')';

-- Sees to it that these keys have a turn.
create function pgjobs._offer_keys(job_id integer, keys text[])
returns void
language plpgsql volatile
as $$
declare
  v_known text[] := array(
    select k.key from unnest(_offer_keys.keys) as k (key) where pgjobs._rely_on_key(_offer_keys.job_id, k.key)
  );
begin
  -- A statement of its own: it sees who came before the doors were held.
  insert into pgjobs.key_turns (job_id, key)
  select _offer_keys.job_id, k.key
  from (select distinct u.key from unnest(_offer_keys.keys) as u (key)) as k
  where k.key <> all (v_known)
    or not exists (select from pgjobs.key_turns as t where t.job_id = _offer_keys.job_id and t.key = k.key);
end
$$;

comment on function pgjobs._offer_keys is
  'Sees to it that keys have a turn. Example: select pgjobs._offer_keys(1, array[''acme''])';

-- Gives every key that has a task waiting a turn, by a look at each key.
create function pgjobs._offer_all_keys(job_id integer)
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.key_turns (job_id, key)
  select _offer_all_keys.job_id, k.key
  from pgjobs._waiting_keys(_offer_all_keys.job_id, null) as k
  where not exists (select from pgjobs.key_turns as t where t.job_id = _offer_all_keys.job_id and t.key = k.key);
end
$$;

comment on function pgjobs._offer_all_keys is
  'Gives every key with a waiting task a turn. Example: select pgjobs._offer_all_keys(1)';

-- Keys of a job with a task that is due, in order of name: one index probe for each.
create function pgjobs._waiting_keys(job_id integer, most integer)
returns table (key text)
language plpgsql stable
as $$
begin
  return query
  with recursive keys as (
    (
      select r.key from pgjobs.ready as r
      where r.job_id = _waiting_keys.job_id and r.key is not null
      order by r.key
      limit 1
    )
    union all
    select (
      select r.key from pgjobs.ready as r
      where r.job_id = _waiting_keys.job_id and r.key > k.key
      order by r.key
      limit 1
    )
    from keys as k
    where k.key is not null
  )
  select k.key from keys as k where k.key is not null limit _waiting_keys.most;
end
$$;

comment on function pgjobs._waiting_keys is
  'Keys of a job with a task that is due. Example: select * from pgjobs._waiting_keys(1, 100)';

-- Keys whose rate has room again have a turn again.
create function pgjobs._resume_keys(job_id integer, now timestamptz)
returns void
language plpgsql volatile
as $$
begin
  if not exists (
    select from pgjobs.key_rests as r where r.job_id = _resume_keys.job_id and r.resumes_at <= _resume_keys.now
  ) then
    return;
  end if;
  with over as (
    delete from pgjobs.key_rests as r
    where r.ctid = any (array(
      select c.ctid from pgjobs.key_rests as c
      where c.job_id = _resume_keys.job_id and c.resumes_at <= _resume_keys.now
      order by c.resumes_at
      limit 500
      for update skip locked
    ))
    returning r.key
  )
  insert into pgjobs.key_turns (job_id, key) select distinct _resume_keys.job_id, o.key from over as o;
end
$$;

comment on function pgjobs._resume_keys is
  'Gives keys a turn whose rate has room again. Example: select pgjobs._resume_keys(1, pgjobs._now())';
