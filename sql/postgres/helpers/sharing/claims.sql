-- Waits for an advisory lock, but not for long: less than Postgres takes to look for deadlocks.
create function pgjobs._lock_soon(lock bigint)
returns boolean
language plpgsql volatile
set lock_timeout = '500ms'
as $$
begin
  perform pg_advisory_xact_lock(_lock_soon.lock);
  return true;
exception when lock_not_available then
  return false;
end
$$;

comment on function pgjobs._lock_soon is
  'Whether an advisory lock was to be had soon. Example: select pgjobs._lock_soon(pgjobs._key_lock(1, ''acme''))';

-- Leases tasks of jobs that share by key, at most `wanted`; answers which, in order.
create function pgjobs._claim_shared(
  jobs integer[], wanted integer, worker_id uuid, holder text, until timestamptz, start boolean, now timestamptz,
  of_owner text, of_project text
)
returns bigint[]
language plpgsql volatile
as $$
declare
  v_job integer;
  v_taken bigint[] := '{}';
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform pgjobs._refuse('validation-error', 'A job with a limit is claimed from under READ COMMITTED only',
      format('The transaction is %s.', upper(current_setting('transaction_isolation'))), 'Claim in a transaction of its own.');
  end if;
  for v_job in select j.id from unnest(_claim_shared.jobs) as j (id) order by random() loop
    v_taken := v_taken || case
      when exists (select from pgjobs.jobs as j where j.id = v_job and j.is_capped)
        then pgjobs._claim_within_quotas(
          v_job, wanted - cardinality(v_taken), worker_id, holder, until, start, _claim_shared.now, of_owner, of_project,
          v_taken = '{}'
        )
      else pgjobs._claim_by_key(
        v_job, wanted - cardinality(v_taken), worker_id, holder, until, start, _claim_shared.now, of_owner, of_project,
        v_taken = '{}'
      )
    end;
    exit when cardinality(v_taken) >= wanted;
  end loop;
  if v_taken <> '{}' then
    perform pgjobs._tell_claimed(array(
      select l.task_id
      from pgjobs.leases as l
      join pgjobs.jobs as j on j.id = l.job_id and j.events = 'full'
      where l.task_id = any (v_taken)
    ));
    if start then
      perform pgjobs._note_targets(array_agg(l.task_id), l.job_id, _claim_shared.now)
      from pgjobs.leases as l
      where l.task_id = any (v_taken)
      group by l.job_id;
    end if;
  end if;
  return v_taken;
end
$$;

comment on function pgjobs._claim_shared is
  'Leases tasks of jobs that share by key. Example: see pgjobs.claim_tasks, which calls it';

-- The same for a claim that may take from other jobs too. Where those have something, they
-- have every other turn, so that neither waits for the end of the other. Answers with the
-- lanes of the others.
create function pgjobs._claim_beside(
  lane_jobs integer[], lane_priorities smallint[], limited integer[], shared integer[], wanted integer, worker_id uuid,
  holder text, until timestamptz, start boolean, now timestamptz, of_owner text, of_project text,
  out task_ids bigint[], out jobs integer[], out priorities smallint[]
)
language plpgsql volatile
as $$
begin
  select array_agg(l.job_id), array_agg(l.priority)
  into _claim_beside.jobs, _claim_beside.priorities
  from unnest(lane_jobs, lane_priorities) as l (job_id, priority)
  where l.job_id <> all (shared);
  if jobs is not null and of_owner is null and of_project is null and random() < 0.5 and exists (
    select from unnest(jobs) as j (id)
    join lateral (select from pgjobs.ready as r where r.job_id = j.id limit 1) as r on true
    where j.id <> all (coalesce(limited, '{}'))
  ) then
    task_ids := '{}';
  else
    task_ids := pgjobs._claim_shared(
      shared, wanted, worker_id, holder, until, start, _claim_beside.now, of_owner, of_project
    );
  end if;
end
$$;

comment on function pgjobs._claim_beside is
  'Leases tasks of jobs that share by key, unless it is the turn of others. Example: see pgjobs.claim_tasks, which calls it';

-- How many tasks of one job may be claimed, by the limits of the job itself.
create function pgjobs._job_room(policy pgjobs.sharing, wanted integer, waits boolean)
returns integer
language plpgsql volatile
as $$
declare
  v_lock bigint := ('pgjobs.leases'::regclass::oid::bigint << 32) | policy.job_id;
  v_room integer := wanted;
  v_is_mine boolean;
begin
  if exists (select from pgjobs.jobs as j where j.id = policy.job_id and j.max_running is not null) then
    v_room := coalesce(pgjobs._free_slots(policy.job_id, wanted, waits), 0);
  end if;
  if v_room > 0 and policy.rate is not null then
    v_is_mine := pgjobs._rate_room(policy.job_id, true, '', policy.rate, policy.rate_window) > 0
      and case when waits then pgjobs._lock_soon(v_lock) else pg_try_advisory_xact_lock(v_lock) end;
    v_room := case
      when v_is_mine then least(v_room, pgjobs._rate_room(policy.job_id, true, '', policy.rate, policy.rate_window))
      else 0
    end;
  end if;
  return v_room;
end
$$;

comment on function pgjobs._job_room is
  'How many tasks of a job may be claimed by its own limits. Example: see pgjobs.claim_tasks, which asks it';

-- Leases tasks of one job, key after key in the order of their turns.
--
-- Keys that somebody else just claims from are passed by; only a claim that would go home
-- empty-handed waits for the first of them. Everything that decides is looked up after a
-- key's lock was taken, by statements that see what its last holder committed.
create function pgjobs._claim_by_key(
  job_id integer, wanted integer, worker_id uuid, holder text, until timestamptz, start boolean, now timestamptz,
  of_owner text, of_project text, waits boolean, not_of text[] default '{}'
)
returns bigint[]
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_policy pgjobs.sharing;
  v_left integer;
  v_asked integer;
  v_visits integer := 0;
  v_idle text[] := '{}';
  v_turns record;
  v_keys text[];
  v_taken bigint[] := '{}';
  v_batch bigint[];
begin
  select s.* into v_policy from pgjobs.sharing as s where s.job_id = _claim_by_key.job_id;
  v_left := pgjobs._job_room(v_policy, wanted, waits);
  perform pgjobs._resume_keys(_claim_by_key.job_id, _claim_by_key.now);
  while v_left > 0 and v_visits < pgjobs._most_keys() loop
    v_asked := least(v_left, pgjobs._most_keys() - v_visits);
    v_turns := pgjobs._next_keys(_claim_by_key.job_id, v_idle, v_asked);
    if v_turns.places is null then
      exit when v_taken <> '{}' or not waits;
      exit when not pgjobs._wait_for_key(_claim_by_key.job_id);
      waits := false;
      v_idle := '{}';
      continue;
    end if;
    v_visits := v_visits + cardinality(v_turns.keys);
    v_keys := array(
      select k.key
      from (select u.key, min(u.place) as place from unnest(v_turns.keys) with ordinality as u (key, place) group by u.key) as k
      where pg_try_advisory_xact_lock(pgjobs._key_lock(_claim_by_key.job_id, k.key))
      order by k.place
    );
    v_batch := pgjobs._take_by_key(
      v_policy, v_keys, v_turns.places, v_left, cardinality(v_turns.keys) < v_asked, worker_id, holder, until, start,
      _claim_by_key.now, of_owner, of_project, not_of
    );
    v_taken := v_taken || v_batch;
    v_left := v_left - cardinality(v_batch);
    perform pgjobs._settle_turns(v_policy, v_keys, v_turns.places, v_batch);
    v_idle := v_idle || array(
      select k.key from unnest(v_turns.keys) as k (key)
      where not exists (
        select from pgjobs.leases as l where l.task_id = any (v_batch) and l.key = k.key
      )
    );
  end loop;
  if v_policy.rate is not null and v_taken <> '{}' then
    perform pgjobs._note_rate(_claim_by_key.job_id, true, '', cardinality(v_taken));
  end if;
  return v_taken;
end
$$;

comment on function pgjobs._claim_by_key is
  'Leases tasks of one job in the order of its keys. Example: see pgjobs.claim_tasks, which calls it';

-- The keys whose turns are next, but for those that were seen and those in other hands.
--
-- Turns below the floor were taken away; while somebody holds a transaction open their
-- dead versions stay, see floor.sql. A turn that is committed late is seen within a second.
create function pgjobs._next_keys(job_id integer, seen text[], quantity integer, out places bigint[], out keys text[])
language plpgsql volatile
as $$
declare
  v_clock bigint := pgjobs._clock_ms();
  v_lane text := 'turns_' || _next_keys.job_id;
  v_floor bigint[] := pgjobs._floor_get(v_lane, v_clock);
  v_first bigint := (
    select t.place from pgjobs.key_turns as t
    where t.job_id = _next_keys.job_id and t.place >= coalesce(v_floor[1], 0)
    order by t.place
    limit 1
  );
begin
  if v_first is null then
    return;
  end if;
  if v_floor is null or v_first > v_floor[1] + 100 then
    perform pgjobs._floor_set(v_lane, v_first, coalesce(v_floor[3], v_clock + 1000));
  end if;
  select array_agg(n.place order by n.place), array_agg(n.key order by n.place)
  into _next_keys.places, _next_keys.keys
  from (
    select t.place, t.key
    from pgjobs.key_turns as t
    where t.job_id = _next_keys.job_id and t.place >= v_first and t.key <> all (_next_keys.seen)
    order by t.place
    limit _next_keys.quantity
    for update skip locked
  ) as n;
end
$$;

comment on function pgjobs._next_keys is
  'The keys whose turns are next. Example: select * from pgjobs._next_keys(1, ''{}'', 10)';

-- Waits for whoever claims from the first key; false when there is none, or it takes too long.
create function pgjobs._wait_for_key(job_id integer)
returns boolean
language plpgsql volatile
as $$
declare
  v_key text := (
    select t.key from pgjobs.key_turns as t where t.job_id = _wait_for_key.job_id order by t.place limit 1
  );
begin
  return v_key is not null and pgjobs._lock_soon(pgjobs._key_lock(_wait_for_key.job_id, v_key));
end
$$;

comment on function pgjobs._wait_for_key is
  'Waits for whoever claims from a job''s first key. Example: see pgjobs.claim_tasks, which calls it';

-- Leases what the keys may run, each as much as its turn allows, and notes it for their
-- rates. Where these are all keys that have a turn, it is as many turns as fit.
create function pgjobs._take_by_key(
  policy pgjobs.sharing, keys text[], places bigint[], wanted integer, are_all boolean, worker_id uuid, holder text,
  until timestamptz, start boolean, now timestamptz, of_owner text, of_project text, not_of text[]
)
returns bigint[]
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_luck text := pgjobs._token_seed();
  v_is_choosy boolean := of_owner is not null or of_project is not null or not_of <> '{}';
  v_tasks bigint[];
  v_keys text[];
begin
  with turns as materialized (
    select
      k.key, k.turn, coalesce(t.left_over, w.weight, 1) as size, coalesce(w.weight, 1) as weight,
      case when _take_by_key.are_all then _take_by_key.wanted / sum(coalesce(w.weight, 1)) over () else 1 end as rounds
    from unnest(_take_by_key.keys) with ordinality as k (key, turn)
    left join pgjobs.key_weights as w on w.job_id = policy.job_id and w.key = k.key
    left join lateral (
      select min(o.left_over) as left_over
      from pgjobs.key_turns as o
      where o.job_id = policy.job_id and o.place = any (_take_by_key.places) and o.key = k.key
    ) as t on true
  ), rooms as materialized (
    select
      u.key, u.turn, pgjobs._key_end(policy, u.key) as last_place,
      least(
        pgjobs._key_room(policy, u.key),
        case when policy.is_fair then u.size + u.weight * greatest(u.rounds - 1, 0) end
      ) as room
    from turns as u
  ), portions as materialized (
    select r.*, sum(r.room) over (order by r.turn) - r.room as before
    from rooms as r
  ), taken as materialized (
    select p.key, p.turn, f.*
    from portions as p
    cross join lateral (
      select c.ctid as line, c.due_at, c.task_id, c.attempt, c.place
      from pgjobs.ready as c
      where c.job_id = policy.job_id and c.key = p.key and c.place <= p.last_place
        and (not v_is_choosy or exists (
          select from pgjobs.tasks as t
          where t.id = c.task_id
            and t.owner is not distinct from coalesce(_take_by_key.of_owner, t.owner)
            and t.project is not distinct from coalesce(_take_by_key.of_project, t.project)
            and (t.room || ':' || coalesce(t.owner, '')) <> all (_take_by_key.not_of)
        ))
      order by c.place, c.task_id
      limit least(p.room, greatest(_take_by_key.wanted - p.before, 0))
      for update skip locked
    ) as f
  ), gone as (
    delete from pgjobs.ready as r where r.ctid = any (array(select t.line from taken as t))
  ), leased as (
    insert into pgjobs.leases (
      task_id, job_id, token, worker_id, holder, attempt, due_at, claimed_at, until, started_at, is_limited, key
    )
    select
      t.task_id, policy.job_id, pgjobs._token_of(v_luck, t.task_id), _take_by_key.worker_id, _take_by_key.holder,
      t.attempt + 1, t.due_at, _take_by_key.now, _take_by_key.until, case when _take_by_key.start then _take_by_key.now end,
      true, t.key
    from taken as t
  )
  select array_agg(t.task_id order by t.turn, t.place, t.task_id), array_agg(t.key)
  into v_tasks, v_keys
  from taken as t;
  if policy.rate_per_key is not null then
    perform pgjobs._note_rate(policy.job_id, false, k.key, count(*)::integer)
    from unnest(v_keys) as k (key)
    where k.key <> ''
    group by k.key;
  end if;
  return coalesce(v_tasks, '{}');
end
$$;

comment on function pgjobs._take_by_key is
  'Leases what keys may run. Example: see pgjobs.claim_tasks, which decides whose turn it is';

-- What a claim answers about tasks that it has just leased.
create function pgjobs._claimed_tasks(task_ids bigint[])
returns table (
  task_id bigint,
  token uuid,
  job_id integer,
  job text,
  room text,
  payload jsonb,
  priority smallint,
  attempt smallint,
  max_attempts smallint,
  created_at timestamptz,
  claimed_at timestamptz,
  until timestamptz,
  submitter text,
  owner text,
  project text,
  tags text[],
  trace_context text
)
language plpgsql volatile
as $$
begin
  return query
  select
    l.task_id, l.token, l.job_id, j.full_name, t.room, t.payload, t.priority, l.attempt, t.max_attempts, t.created_at,
    l.claimed_at, l.until, t.submitter, t.owner, t.project, t.tags, t.trace_context
  from unnest(_claimed_tasks.task_ids) with ordinality as i (id, place)
  join pgjobs.leases as l on l.task_id = i.id
  join pgjobs.tasks as t on t.id = i.id
  join pgjobs.jobs as j on j.id = l.job_id
  order by i.place;
end
$$;

comment on function pgjobs._claimed_tasks is
  'What a claim answers about tasks it leased. Example: select * from pgjobs._claimed_tasks(array[42])';
