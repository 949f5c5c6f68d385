-- How many more tasks of a key may be claimed. To be believed only by whoever has the
-- key's lock, in a statement that began after that. The empty key, of tasks without one,
-- is not limited.
create function pgjobs._slots_of_key(policy pgjobs.sharing, key text)
returns integer
language plpgsql volatile
as $$
declare
  v_limit integer := case when policy.is_ordered then 1 else policy.max_running_per_key end;
begin
  if key = '' or v_limit is null then
    return 1000000;
  end if;
  return v_limit - (
    select count(*) from pgjobs.leases as l
    where l.job_id = policy.job_id and l.key = _slots_of_key.key and l.is_limited
  );
end
$$;

comment on function pgjobs._slots_of_key is
  'How many more tasks of a key may run at once. Example: select pgjobs._slots_of_key(s, ''acme'') from pgjobs.sharing as s';

create function pgjobs._key_room(policy pgjobs.sharing, key text)
returns integer
language plpgsql volatile
as $$
declare
  v_room integer := pgjobs._slots_of_key(policy, key);
begin
  if v_room > 0 and policy.rate_per_key is not null and key <> '' then
    v_room := least(v_room, pgjobs._rate_room(
      policy.job_id, false, _key_room.key, policy.rate_per_key, policy.rate_per_key_window
    ));
  end if;
  return greatest(v_room, 0);
end
$$;

comment on function pgjobs._key_room is
  'How many more tasks of a key may be claimed. Example: select pgjobs._key_room(s, ''acme'') from pgjobs.sharing as s';

-- Up to which place the tasks of a key may be claimed. Where order is kept that is its
-- first, unless an earlier one waits for its time: then none.
create function pgjobs._key_end(policy pgjobs.sharing, key text)
returns bigint
language plpgsql volatile
as $$
declare
  v_first bigint;
begin
  if not policy.is_ordered or key = '' then
    return 9223372036854775807;
  end if;
  v_first := (
    select r.task_id from pgjobs.ready as r
    where r.job_id = policy.job_id and r.key = _key_end.key
    order by r.place, r.task_id
    limit 1
  );
  return case
    when not exists (
      select from pgjobs.scheduled as s
      where s.job_id = policy.job_id and s.key = _key_end.key and s.task_id < v_first
        and (policy.on_failure = 'wait' or s.error is null)
    )
      then v_first
  end;
end
$$;

comment on function pgjobs._key_end is
  'Up to which place tasks of a key may be claimed. Example: select pgjobs._key_end(s, ''acme'') from pgjobs.sharing as s';

create function pgjobs._key_can_run(policy pgjobs.sharing, key text)
returns boolean
language plpgsql volatile
as $$
begin
  return exists (
    select from pgjobs.ready as r
    where r.job_id = policy.job_id and r.key = _key_can_run.key
      and r.place <= pgjobs._key_end(_key_can_run.policy, _key_can_run.key)
  ) and pgjobs._key_room(_key_can_run.policy, _key_can_run.key) > 0;
end
$$;

comment on function pgjobs._key_can_run is
  'Whether a task of a key may be claimed. Example: select pgjobs._key_can_run(s, ''acme'') from pgjobs.sharing as s';
