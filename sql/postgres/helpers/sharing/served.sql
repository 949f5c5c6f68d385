-- After a key was served: what is left of its turn stays, else it goes to the back; a key
-- that can run nothing has no turn any more, unless somebody relies on it.
create function pgjobs._settle_turns(policy pgjobs.sharing, keys text[], places bigint[], taken bigint[])
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_over text[] := array(
    select k.key from unnest(_settle_turns.keys) as k (key) where not pgjobs._key_can_run(policy, k.key)
  );
begin
  v_over := array(
    select k.key from unnest(v_over) as k (key)
    where pg_try_advisory_xact_lock(pgjobs._key_door(policy.job_id, k.key))
  );
  -- Looked at again: what came before the door was closed is seen only now.
  v_over := array(select k.key from unnest(v_over) as k (key) where not pgjobs._key_can_run(policy, k.key));
  delete from pgjobs.key_turns as t
  where t.job_id = policy.job_id and t.place = any (_settle_turns.places) and t.key = any (v_over);
  perform pgjobs._rest_keys(policy, v_over);
  -- Of two turns of one key the later goes.
  delete from pgjobs.key_turns as t
  where t.job_id = policy.job_id and t.place = any (_settle_turns.places) and t.key = any (_settle_turns.keys)
    and exists (
      select from pgjobs.key_turns as o
      where o.job_id = policy.job_id and o.place = any (_settle_turns.places) and o.key = t.key and o.place < t.place
    );
  update pgjobs.key_turns as t
  set
    place = case when s.left_over > 0 then t.place else nextval('pgjobs.key_turns_seq') end,
    left_over = nullif(s.left_over, 0)
  from (
    select
      o.place, count(l.task_id) as quantity,
      case when policy.is_fair then greatest(coalesce(o.left_over, w.weight, 1) - count(l.task_id), 0) end as left_over
    from pgjobs.key_turns as o
    left join pgjobs.key_weights as w on w.job_id = o.job_id and w.key = o.key
    left join pgjobs.leases as l on l.task_id = any (_settle_turns.taken) and l.key = o.key
    where o.job_id = policy.job_id and o.place = any (_settle_turns.places) and o.key = any (_settle_turns.keys)
    group by o.place, o.left_over, w.weight
  ) as s
  where t.job_id = policy.job_id and t.place = s.place
    and (s.quantity > 0 or not pgjobs._key_can_run(policy, t.key));
end
$$;

comment on function pgjobs._settle_turns is
  'Gives keys that were served their next turn. Example: see pgjobs.claim_tasks, which serves them';

-- Keys without a turn that wait for their rate have one again in time.
create function pgjobs._rest_keys(policy pgjobs.sharing, keys text[])
returns void
language plpgsql volatile
as $$
begin
  if policy.rate_per_key is null then
    return;
  end if;
  insert into pgjobs.key_rests (job_id, resumes_at, key)
  select policy.job_id, r.resumes_at, k.key
  from unnest(_rest_keys.keys) as k (key)
  cross join lateral pgjobs._rate_resumes_at(
    policy.job_id, false, k.key, policy.rate_per_key, policy.rate_per_key_window
  ) as r (resumes_at)
  where pgjobs._rate_room(policy.job_id, false, k.key, policy.rate_per_key, policy.rate_per_key_window) = 0
    and r.resumes_at is not null
  on conflict do nothing;
end
$$;

comment on function pgjobs._rest_keys is
  'Has keys wait for their rate. Example: see pgjobs.claim_tasks, which found them without room';
