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
  v_until timestamptz;
  v_claimable record;
  v_left integer := claim_tasks.quantity;
  v_portion integer;
  v_is_limited boolean;
  v_full integer[] := '{}';
  v_waits boolean := true;
  v_taken integer;
  v_lane record;
  v_is_choosy boolean := claim_tasks.of_owner is not null or claim_tasks.of_project is not null;
  -- The first look, for claims of one, takes what is better than the head of the next
  -- lane; where others are just taking all of that, the next lane has its turn. The
  -- second takes whatever a lane has. The third ignores the floors: nobody goes home
  -- empty-handed because of a remembered floor, unless looking has become expensive.
  v_first_look integer := case when claim_tasks.quantity = 1 and not v_is_choosy then 1 else 2 end;
  v_tried integer := 0;
  v_is_held boolean := false;
  v_luck text := pgjobs._token_seed();
begin
  v_until := pgjobs._check_claim(
    claim_tasks.worker_id, claim_tasks.quantity, claim_tasks.lease, claim_tasks.holder, claim_tasks.actor,
    claim_tasks.durable, v_now
  );
  v_claimable := pgjobs._claimable_jobs(
    claim_tasks.worker_id, claim_tasks.job_ids, claim_tasks.in_room, claim_tasks.in_category, claim_tasks.remote
  );
  perform pgjobs._promote_due(v_now);
  for v_look in v_first_look..3 loop
    continue when v_look = 2 and v_first_look = 1 and not v_is_held;
    exit when v_look = 3 and pgjobs._look_cost(pgjobs._clock_ms()) > 20;
    for v_lane in select h.* from pgjobs._lane_heads(v_claimable.jobs, v_now, v_look = 3, v_is_choosy) as h loop
      continue when v_lane.job_id = any (v_full);
      v_portion := v_left;
      v_is_limited := v_lane.job_id = any (v_claimable.limited);
      if v_is_limited then
        v_portion := pgjobs._free_slots(v_lane.job_id, v_left, v_waits);
        v_waits := v_waits and v_portion is not distinct from 0;
        if coalesce(v_portion, 0) = 0 then
          v_full := v_full || v_lane.job_id;
          continue;
        end if;
      end if;
      return query
      with taken as materialized (
        select c.ctid as place, c.due_at, c.task_id, c.attempt
        from pgjobs.ready as c
        where c.job_id = v_lane.job_id and c.priority = v_lane.priority
          and (c.due_at, c.task_id) >= (v_lane.due_at, v_lane.task_id)
          and (c.due_at, c.task_id) < (case when v_look = 1 then v_lane.until_at else 'infinity' end, v_lane.until_id)
          and (not v_is_choosy or exists (
            select from pgjobs.tasks as t
            where t.id = c.task_id
              and t.owner is not distinct from coalesce(claim_tasks.of_owner, t.owner)
              and t.project is not distinct from coalesce(claim_tasks.of_project, t.project)
          ))
        order by c.due_at, c.task_id
        limit v_portion
        for update skip locked
      ), gone as (
        delete from pgjobs.ready as r where r.ctid = any (array(select k.place from taken as k))
      ), leased as (
        insert into pgjobs.leases (
          task_id, job_id, token, worker_id, holder, attempt, due_at, claimed_at, until, started_at, is_limited
        )
        select
          k.task_id, v_lane.job_id, pgjobs._token_of(v_luck, k.task_id), claim_tasks.worker_id,
          claim_tasks.holder, k.attempt + 1, k.due_at, v_now, v_until, case when claim_tasks.start then v_now end,
          v_is_limited
        from taken as k
        -- Asked once, of the first: true, and the next claim begins there. What was
        -- chosen among others says nothing of those.
        where v_is_choosy or (
          select pgjobs._floor_raise(v_lane.lane, v_lane.floor, f.due_at, f.task_id, v_now) is not null from taken as f limit 1
        )
        returning task_id, token, attempt
      )
      -- A nested loop, so rows come in the order they were taken.
      select
        l.task_id, l.token, v_lane.job_id, (select j.full_name from pgjobs.jobs as j where j.id = v_lane.job_id),
        t.room, t.payload, t.priority, l.attempt, t.max_attempts, t.created_at, v_now,
        v_until, t.submitter, t.owner, t.project, t.tags, t.trace_context
      from leased as l
      join pgjobs.tasks as t on t.id = l.task_id;
      get diagnostics v_taken = row_count;
      v_left := v_left - v_taken;
      exit when v_left = 0;
      v_tried := v_tried + 1;
      v_is_held := v_is_held or v_lane.until_at < 'infinity';
      -- Not on to another priority: these lanes may have more.
      exit when v_look = 1 and (v_tried = 8 or v_lane.until_id = 9223372036854775807);
    end loop;
    exit when v_left < claim_tasks.quantity;
  end loop;
end
$$;

comment on function pgjobs.claim_tasks is
  'Leases due tasks. Example: select * from pgjobs.claim_tasks(holder => ''me'', lease => ''1 min'', in_room => ''@global'')';
