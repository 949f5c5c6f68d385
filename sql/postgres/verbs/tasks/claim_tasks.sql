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
  v_heads record;
  v_were_floors boolean;
  v_taken record;
  v_left integer := claim_tasks.quantity;
  v_portion integer;
  v_full integer[] := '{}';
  v_waits boolean := true;
  v_job integer;
  v_is_choosy boolean := claim_tasks.of_owner is not null or claim_tasks.of_project is not null;
  v_look text;
  v_tried integer := 0;
  v_is_held boolean := false;
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
    v_heads := pgjobs._claim_beside(v_claim.jobs, v_claim.priorities, v_claim.limited, v_claim.shared, v_left,
      claim_tasks.worker_id, claim_tasks.holder, v_claim.until, claim_tasks.start, v_now, claim_tasks.of_owner, claim_tasks.of_project);
    return query select c.* from pgjobs._claimed_tasks(v_heads.task_ids) as c;
    v_left := v_left - cardinality(v_heads.task_ids);
    v_claim.jobs := v_heads.jobs; v_claim.priorities := v_heads.priorities;
  end if;
  if v_left = 0 or v_claim.jobs is null then
    return;
  end if;
  -- The first look, of claims of one, takes from a lane only what is better than the head of the
  -- next; where others are just taking all of that, the next lane has its turn. The second takes
  -- whatever a lane has. The last believes no floor: nobody goes home empty-handed because of a
  -- remembered one, unless looking has become expensive. (Names as constants would cost every claim 1 %.)
  foreach v_look in array case when claim_tasks.quantity = 1 and not v_is_choosy then '{best,any,thorough}' else '{any,thorough}'::text[] end loop
    continue when v_look = 'any' and claim_tasks.quantity = 1 and not v_is_choosy and not v_is_held;
    -- Without floors the looks before were as thorough.
    exit when v_look = 'thorough' and (not v_were_floors or pgjobs._is_looking_dear());
    v_heads := pgjobs._lane_heads(v_claim.jobs, v_claim.priorities, v_now, v_look = 'thorough', v_is_choosy);
    v_were_floors := coalesce(v_heads.were_floors, false);
    for v_place in 1..coalesce(cardinality(v_heads.jobs), 0) loop
      v_job := v_heads.jobs[v_place];
      continue when v_job = any (v_full);
      v_portion := v_left;
      if v_job = any (v_claim.limited) then
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
        v_portion, claim_tasks.of_owner, claim_tasks.of_project, claim_tasks.worker_id, claim_tasks.holder, v_claim.until,
        case when claim_tasks.start then v_now end, coalesce(v_job = any (v_claim.limited), false), v_now
      );
      if v_taken.task_ids is not null then
        -- The next claim begins there. What was chosen among others says nothing of those.
        if not v_is_choosy then
          perform pgjobs._floor_raise(v_job || '_' || v_heads.priorities[v_place], v_heads.floors[v_place][2],
            v_heads.floors[v_place][3], v_heads.floors[v_place][4], v_taken.first_at, v_taken.task_ids[1], v_now);
        end if;
        if v_job = any (v_claim.told) then
          perform pgjobs._tell_claimed(v_taken.task_ids);
        end if;
        if claim_tasks.start then
          perform pgjobs._note_targets(v_taken.task_ids, v_job, v_now);
        end if;
        -- In the order they were taken: `offset 0` has each looked up in its turn, however small the table.
        return query
        select
          t.id, k.token, v_job, (select j.full_name from pgjobs.jobs as j where j.id = v_job),
          t.room, t.payload, t.priority, k.attempt, t.max_attempts, t.created_at, v_now,
          v_claim.until, t.submitter, t.owner, t.project, t.tags, t.trace_context
        from unnest(v_taken.task_ids, v_taken.tokens, v_taken.attempts) as k (task_id, token, attempt)
        cross join lateral (select b.* from pgjobs.tasks as b where b.id = k.task_id offset 0) as t;
        v_left := v_left - cardinality(v_taken.task_ids);
        exit when v_left = 0;
      end if;
      v_tried := v_tried + 1;
      v_is_held := v_is_held or v_heads.until_at[v_place] < 'infinity';
      -- Not on to another priority: these lanes may have more.
      exit when v_look = 'best' and (v_tried = 8 or v_heads.until_ids[v_place] = pgjobs._last_id());
    end loop;
    exit when v_left < claim_tasks.quantity;
  end loop;
end
$$;

comment on function pgjobs.claim_tasks is
  'Leases due tasks. Example: select * from pgjobs.claim_tasks(holder => ''me'', lease => ''1 min'', in_room => ''@global'')';
