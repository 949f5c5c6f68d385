-- Hands up to `quantity` due tasks to a worker, each under a fresh lease.
--
-- Serves the jobs the worker is linked to, or those named by `job_ids`, or those
-- of `in_room` and `in_category`. Takes from the lane whose head is best by due
-- time and priority, in order within the lane; a batch may run on into the next
-- lane. Without a registered worker a claim names its `holder` and a `lease`.
--
-- Of a job with a limit no more are handed out than it has slots; while somebody else
-- claims from it, a claim waits for them.
--
-- A claim that is not `durable` does not wait for the disk, nor does anything else
-- in its transaction: after a crash of the server the task may be due again, and
-- its token refused.
create function pgjobs.claim_tasks(
  worker_id uuid default null,
  quantity integer default 1,
  lease interval default null,
  job_ids integer[] default null,
  in_room text default null,
  in_category text default null,
  of_owner text default null,
  of_project text default null,
  holder text default null,
  start boolean default false,
  remote boolean default false,
  actor text default null,
  durable boolean default true
)
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
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_claim record;
  v_beside record;
  v_floor bigint[];
  v_lease pgjobs.leases;
  v_taken record;
  v_ids bigint[];
  v_left integer := claim_tasks.quantity;
  v_started_at timestamptz;
  v_lane text;
begin
  if not claim_tasks.durable then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  if not coalesce(claim_tasks.quantity between 1 and 500 and (claim_tasks.lease is null or claim_tasks.lease > interval '0') and (
    claim_tasks.worker_id is not null or (claim_tasks.lease is not null and length(claim_tasks.holder) between 1 and 200)
  ), false) then
    perform pgjobs._refuse_claim(claim_tasks.worker_id, claim_tasks.quantity, claim_tasks.lease, claim_tasks.holder);
  end if;
  v_claim := pgjobs._open_claim(claim_tasks.worker_id, claim_tasks.job_ids, claim_tasks.in_room, claim_tasks.in_category,
    claim_tasks.lease, claim_tasks.remote, claim_tasks.actor, v_now);
  if v_claim.shared is not null then
    v_beside := pgjobs._claim_beside(v_claim.jobs, v_claim.priorities, v_claim.limited, v_claim.shared, v_left,
      claim_tasks.worker_id, claim_tasks.holder, v_claim.until, claim_tasks.start, v_now, claim_tasks.of_owner, claim_tasks.of_project);
    return query select c.* from pgjobs._claimed_tasks(v_beside.task_ids) as c;
    v_left := v_left - cardinality(v_beside.task_ids);
    v_claim.jobs := v_beside.jobs; v_claim.priorities := v_beside.priorities;
  end if;
  if v_left = 0 or v_claim.jobs is null then
    return;
  end if;
  -- Lanes or tasks to choose among, or a limit.
  if v_claim.jobs[2] is not null or v_claim.limited is not null or num_nonnulls(claim_tasks.of_owner, claim_tasks.of_project) > 0 then
    v_ids := pgjobs._claim_from_lanes(
      v_claim.jobs, v_claim.priorities, v_claim.limited, v_claim.told, claim_tasks.quantity, v_left, claim_tasks.of_owner,
      claim_tasks.of_project, claim_tasks.worker_id, claim_tasks.holder, v_claim.until, claim_tasks.start, v_now
    );
    return query select c.* from pgjobs._claimed_tasks(v_ids) as c;
    return;
  end if;
  v_started_at := case when claim_tasks.start then v_now end;
  v_floor := pgjobs._lane_floor(v_claim.jobs[1], v_claim.priorities[1], v_now, false);
  loop
    if v_floor is null then
      return;
    elsif v_left = 1 then
      v_lease := pgjobs._take_one(
        v_claim.jobs[1], v_claim.priorities[1], pgjobs._timestamp(v_floor[1]), v_floor[2], 'infinity', 0, claim_tasks.worker_id,
        claim_tasks.holder, v_claim.until, v_started_at, false, v_now
      );
      v_ids := array[v_lease.task_id];
    else
      v_taken := pgjobs._take_from_lane(
        v_claim.jobs[1], v_claim.priorities[1], pgjobs._timestamp(v_floor[1]), v_floor[2], 'infinity', 0, v_left, null, null,
        claim_tasks.worker_id, claim_tasks.holder, v_claim.until, v_started_at, false, v_now
      );
      v_ids := v_taken.task_ids;
      v_lease.due_at := v_taken.first_at;
    end if;
    exit when v_ids[1] is not null;
    -- Nobody goes home empty-handed because of a remembered floor, unless looking has become expensive.
    if v_floor[5] is null or pgjobs._is_looking_dear() then
      return;
    end if;
    v_floor := pgjobs._lane_floor(v_claim.jobs[1], v_claim.priorities[1], v_now, true);
  end loop;
  -- The next claim begins there. Assigned, because `perform` would be a statement of its own.
  v_lane := v_claim.jobs[1] || '_' || v_claim.priorities[1];
  v_lane := pgjobs._floor_raise(v_lane, v_floor[2], v_floor[3], v_floor[4], v_lease.due_at, v_ids[1], v_now);
  if v_claim.told is not null then
    perform pgjobs._tell_claimed(v_ids);
  end if;
  if claim_tasks.start and v_claim.are_targeted then
    perform pgjobs._note_targets(v_ids, v_claim.jobs[1], v_now);
  end if;
  if v_left = 1 then
    return query
    select
      t.id, v_lease.token, v_lease.job_id, (select j.full_name from pgjobs.jobs as j where j.id = v_lease.job_id),
      t.room, t.payload, t.priority, v_lease.attempt, t.max_attempts, t.created_at, v_now,
      v_lease.until, t.submitter, t.owner, t.project, t.tags, t.trace_context
    from pgjobs.tasks as t
    where t.id = v_lease.task_id;
    return;
  end if;
  -- In the order they were taken: `offset 0` has each looked up in its turn, however small the table.
  return query
  select
    t.id, k.token, t.job_id, (select j.full_name from pgjobs.jobs as j where j.id = v_claim.jobs[1]),
    t.room, t.payload, t.priority, k.attempt, t.max_attempts, t.created_at, v_now,
    v_claim.until, t.submitter, t.owner, t.project, t.tags, t.trace_context
  from unnest(v_taken.task_ids, v_taken.tokens, v_taken.attempts) as k (task_id, token, attempt)
  cross join lateral (select b.* from pgjobs.tasks as b where b.id = k.task_id offset 0) as t;
end
$$;

comment on function pgjobs.claim_tasks is
  'Leases due tasks. Example: select * from pgjobs.claim_tasks(holder => ''me'', lease => ''1 min'', in_room => ''@global'')';
