-- Leases tasks of several lanes, of jobs with a limit, or of one owner or project; answers which, in
-- order. `quantity` is what the claim asked for, `wanted` what is left of that.
create function pgjobs._claim_from_lanes(
  lane_jobs integer[], lane_priorities smallint[], limited integer[], told integer[], quantity integer, wanted integer,
  of_owner text, of_project text, worker_id uuid, holder text, lease_until timestamptz, start boolean, now timestamptz
)
returns bigint[]
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_heads record;
  v_were_floors boolean;
  v_taken record;
  v_ids bigint[] := '{}';
  v_left integer := wanted;
  v_portion integer;
  v_full integer[] := '{}';
  v_waits boolean := true;
  v_job integer;
  v_is_choosy boolean := of_owner is not null or of_project is not null;
  v_look text;
  v_tried integer := 0;
  v_is_held boolean := false;
begin
  -- The first look, of claims of one, takes from a lane only what is better than the head of the
  -- next; where others are just taking all of that, the next lane has its turn. The second takes
  -- whatever a lane has. The last believes no floor: nobody goes home empty-handed because of a
  -- remembered one, unless looking has become expensive. (Names as constants would cost every claim 1 %.)
  foreach v_look in array case when _claim_from_lanes.quantity = 1 and not v_is_choosy then '{best,any,thorough}' else '{any,thorough}'::text[] end loop
    continue when v_look = 'any' and _claim_from_lanes.quantity = 1 and not v_is_choosy and not v_is_held;
    -- Without floors the looks before were as thorough.
    exit when v_look = 'thorough' and (not v_were_floors or pgjobs._is_looking_dear());
    v_heads := pgjobs._lane_heads(lane_jobs, lane_priorities, _claim_from_lanes.now, v_look = 'thorough', v_is_choosy);
    v_were_floors := coalesce(v_heads.were_floors, false);
    for v_place in 1..coalesce(cardinality(v_heads.jobs), 0) loop
      v_job := v_heads.jobs[v_place];
      continue when v_job = any (v_full);
      v_portion := v_left;
      if v_job = any (_claim_from_lanes.limited) then
        v_portion := pgjobs._free_slots(v_job, v_left, v_waits);
        v_waits := v_waits and v_portion is not distinct from 0;
        if coalesce(v_portion, 0) = 0 then
          v_full := v_full || v_job;
          continue;
        end if;
      end if;
      v_taken := pgjobs._take_from_lane(
        v_job, v_heads.priorities[v_place], v_heads.due_at[v_place], v_heads.task_ids[v_place],
        case when v_look = 'best' then v_heads.until_at[v_place] else 'infinity' end, coalesce(v_heads.until_ids[v_place], 0),
        v_portion, _claim_from_lanes.of_owner, _claim_from_lanes.of_project, _claim_from_lanes.worker_id, _claim_from_lanes.holder, lease_until,
        case when _claim_from_lanes.start then _claim_from_lanes.now end, coalesce(v_job = any (_claim_from_lanes.limited), false), _claim_from_lanes.now
      );
      if v_taken.task_ids is not null then
        -- The next claim begins there. What was chosen among others says nothing of those.
        if not v_is_choosy then
          perform pgjobs._floor_raise(v_job || '_' || v_heads.priorities[v_place], v_heads.floors[v_place][2],
            v_heads.floors[v_place][3], v_heads.floors[v_place][4], v_taken.first_at, v_taken.task_ids[1], _claim_from_lanes.now);
        end if;
        if v_job = any (_claim_from_lanes.told) then
          perform pgjobs._tell_claimed(v_taken.task_ids);
        end if;
        if _claim_from_lanes.start then
          perform pgjobs._note_targets(v_taken.task_ids, v_job, _claim_from_lanes.now);
        end if;
        v_left := v_left - cardinality(v_taken.task_ids);
        v_ids := v_ids || v_taken.task_ids;
        exit when v_left = 0;
      end if;
      v_tried := v_tried + 1;
      v_is_held := v_is_held or v_heads.until_at[v_place] < 'infinity';
      -- Not on to another priority: these lanes may have more.
      exit when v_look = 'best' and (v_tried = 8 or v_heads.until_ids[v_place] = pgjobs._last_id());
    end loop;
    exit when v_left < _claim_from_lanes.wanted;
  end loop;
  return v_ids;
end
$$;

comment on function pgjobs._claim_from_lanes is
  'Leases tasks of several lanes. Example: see pgjobs.claim_tasks, which calls it';

-- Takes the first task of a lane and writes its lease; null if there is none: what _take_from_lane
-- does, without arrays, at half the price.
create function pgjobs._take_one(
  job_id integer, priority smallint, from_at timestamptz, from_id bigint, until_at timestamptz, until_id bigint,
  worker_id uuid, holder text, lease_until timestamptz, started_at timestamptz, is_limited boolean, now timestamptz
)
returns pgjobs.leases
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_due_at timestamptz;
  v_task bigint;
  v_attempt smallint;
  v_lease pgjobs.leases;
begin
  delete from pgjobs.ready as r
  where r.ctid = (
    select c.ctid
    from pgjobs.ready as c
    where c.job_id = _take_one.job_id and c.priority = _take_one.priority
      and (c.due_at, c.task_id) >= (_take_one.from_at, _take_one.from_id)
      and (c.due_at, c.task_id) < (_take_one.until_at, _take_one.until_id)
    order by c.due_at, c.task_id
    limit 1
    for update skip locked
  )
  returning r.due_at, r.task_id, r.attempt + 1 into v_due_at, v_task, v_attempt;
  if v_task is null then
    return null;
  end if;
  insert into pgjobs.leases (
    task_id, job_id, token, worker_id, holder, attempt, due_at, claimed_at, until, started_at, is_limited
  )
  values (
    v_task, _take_one.job_id, pgjobs._token_of(pgjobs._token_seed(), v_task), _take_one.worker_id, _take_one.holder, v_attempt,
    v_due_at, _take_one.now, _take_one.lease_until, _take_one.started_at, _take_one.is_limited
  )
  returning * into v_lease;
  return v_lease;
end
$$;

comment on function pgjobs._take_one is
  'Takes the first task of a lane under a lease. Example: see pgjobs.claim_tasks, which chose the lane';

-- Takes up to `quantity` tasks from a lane, in order, and writes their leases: from the place
-- (from_at, from_id) up to, but without, (until_at, until_id). With `owner` or `project` only theirs.
create function pgjobs._take_from_lane(
  job_id integer, priority smallint, from_at timestamptz, from_id bigint, until_at timestamptz, until_id bigint,
  quantity integer, owner text, project text, worker_id uuid, holder text, lease_until timestamptz,
  started_at timestamptz, is_limited boolean, now timestamptz,
  out task_ids bigint[], out tokens uuid[], out attempts smallint[], out first_at timestamptz
)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_luck text := pgjobs._token_seed();
  v_lease pgjobs.leases;
begin
  if quantity = 1 and coalesce(_take_from_lane.owner, _take_from_lane.project) is null then
    v_lease := pgjobs._take_one(
      _take_from_lane.job_id, _take_from_lane.priority, from_at, from_id, until_at, until_id, _take_from_lane.worker_id,
      _take_from_lane.holder, _take_from_lane.lease_until, _take_from_lane.started_at, _take_from_lane.is_limited,
      _take_from_lane.now
    );
    if v_lease.task_id is not null then
      first_at := v_lease.due_at;
      task_ids := array[v_lease.task_id];
      tokens := array[v_lease.token];
      attempts := array[v_lease.attempt];
    end if;
    return;
  end if;
  with taken as materialized (
    select c.ctid as place, c.due_at, c.task_id, c.attempt
    from pgjobs.ready as c
    where c.job_id = _take_from_lane.job_id and c.priority = _take_from_lane.priority
      and (c.due_at, c.task_id) >= (_take_from_lane.from_at, _take_from_lane.from_id)
      and (c.due_at, c.task_id) < (_take_from_lane.until_at, _take_from_lane.until_id)
      and (coalesce(_take_from_lane.owner, _take_from_lane.project) is null or exists (
        select from pgjobs.tasks as t
        where t.id = c.task_id
          and t.owner is not distinct from coalesce(_take_from_lane.owner, t.owner)
          and t.project is not distinct from coalesce(_take_from_lane.project, t.project)
      ))
    order by c.due_at, c.task_id
    limit _take_from_lane.quantity
    for update skip locked
  ), gone as (
    delete from pgjobs.ready as r where r.ctid = any (array(select k.place from taken as k))
  ), leased as (
    insert into pgjobs.leases (
      task_id, job_id, token, worker_id, holder, attempt, due_at, claimed_at, until, started_at, is_limited
    )
    select
      k.task_id, _take_from_lane.job_id, pgjobs._token_of(v_luck, k.task_id), _take_from_lane.worker_id,
      _take_from_lane.holder, k.attempt + 1, k.due_at, _take_from_lane.now, _take_from_lane.lease_until,
      _take_from_lane.started_at, _take_from_lane.is_limited
    from taken as k
    returning task_id, token, attempt
  )
  select array_agg(l.task_id), array_agg(l.token), array_agg(l.attempt), (select k.due_at from taken as k limit 1)
  into _take_from_lane.task_ids, _take_from_lane.tokens, _take_from_lane.attempts, _take_from_lane.first_at
  from leased as l;
end
$$;

comment on function pgjobs._take_from_lane is
  'Takes the first tasks of a lane under leases. Example: see pgjobs.claim_tasks, which chose the lane';

-- Tokens of a claim: one draw for all, a version 8 UUID of sixty random bits and the
-- task's number, so that no task shares its token and none can be guessed. SQL without
-- settings, so that both are inlined.
create function pgjobs._token_seed()
returns text
language sql volatile
return overlay(left(translate(gen_random_uuid()::text, '-', ''), 16) placing '8' from 13 for 1) || '8';

comment on function pgjobs._token_seed is 'What the tokens of one claim have in common. Example: select pgjobs._token_seed()';

create function pgjobs._token_of(luck text, task_id bigint)
returns uuid
language sql immutable
return (luck || lpad(to_hex(task_id), 15, '0'))::uuid;

comment on function pgjobs._token_of is
  'The token of a task in one claim. Example: select pgjobs._token_of(pgjobs._token_seed(), 42)';
