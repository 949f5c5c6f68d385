-- Refuses claims that cannot be, and counts a claim as a sign of life.
create function pgjobs.check_claim(
  worker_id uuid, quantity integer, until timestamptz, holder text, actor text, now timestamptz
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_worker pgjobs.workers;
begin
  if quantity is null or quantity not between 1 and 500 then
    perform pgjobs.refuse('validation-error', 'quantity must be between 1 and 500', format('Got %s.', quantity));
  end if;
  if worker_id is null and (until is null or holder is null or holder = '' or length(holder) > 200) then
    perform pgjobs.refuse('validation-error', 'A claim without a registered worker needs a holder and a lease',
      null, 'Pass holder => ''name'' and lease => ''1 minute'', or register a worker.');
  end if;
  if worker_id is not null then
    v_worker := pgjobs.find_worker(check_claim.worker_id, check_claim.actor);
    update pgjobs.workers as w
    set last_heartbeat_at = check_claim.now
    where w.id = v_worker.id
      and w.last_heartbeat_at < check_claim.now - (select s.worker_timeout / 4 from pgjobs.settings as s);
  end if;
end
$$;

comment on function pgjobs.check_claim is 'Refuses claims that cannot be. Example: see pgjobs.claim_tasks, which calls it first';

-- The jobs a claim may take from. Separate queries, because one with all three
-- conditions could use no index.
create function pgjobs.claimable_jobs(
  worker_id uuid, job_ids integer[], in_room text, in_category text, remote boolean
)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_jobs integer[] := claimable_jobs.job_ids;
begin
  if v_jobs is null and in_room is not null then
    v_jobs := array(
      select j.id from pgjobs.jobs as j
      where j.room = in_room and j.category = coalesce(in_category, j.category)
    );
  elsif v_jobs is null then
    v_jobs := array(select w.job_id from pgjobs.worker_jobs as w where w.worker_id = claimable_jobs.worker_id);
  end if;
  return array(
    select j.id from pgjobs.jobs as j
    where j.id = any (v_jobs)
      and j.paused_at is null and j.archived_at is null and j.deleted_at is null
      and (j.room <> '@internal' or not remote)
  );
end
$$;

comment on function pgjobs.claimable_jobs is
  'The jobs a claim may take from. Example: select pgjobs.claimable_jobs(null, null, ''@global'', null, false)';

-- The head of each lane, best first: due time plus a step of `aging` for each
-- priority. A waiting task's key is fixed and newcomers' keys grow, so an old
-- task of low priority gets its turn. One index probe per lane.
create function pgjobs.lane_heads(job_ids integer[], now timestamptz, ignore_floors boolean)
returns table (job_id integer, priority smallint, due_at timestamptz, task_id bigint)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs.clock_ms();
  v_expires bigint := v_clock + greatest(1000, 20 * pgjobs.look_cost());
  -- No floor is older than any clock.
  v_trusted bigint := case when lane_heads.ignore_floors then 9223372036854775807 else v_clock end;
begin
  return query
  with looked as materialized (
    select
      l.job_id, l.priority, h.due_at, h.task_id,
      case
        -- An empty lane's floor is the present: what is still on its way may be
        -- below it, and is found when the floor expires.
        when l.floor is null
          then pgjobs.floor_set(l.lane, pgjobs.micros(coalesce(h.due_at, lane_heads.now)), v_expires, coalesce(h.task_id, 0))
        when h.task_id <> l.floor[2]
          then pgjobs.floor_set(l.lane, pgjobs.micros(h.due_at), l.floor[3], h.task_id)
      end
    from (
      select d.job_id, d.priority, d.lane, pgjobs.floor_get(d.lane, v_trusted) as floor
      from (
        select distinct a.job_id, a.priority, a.job_id || '_' || a.priority as lane
        from pgjobs.lanes as a
        where a.job_id = any (lane_heads.job_ids)
      ) as d
      offset 0
    ) as l
    left join lateral (
      select r.due_at, r.task_id
      from pgjobs.ready as r
      where r.job_id = l.job_id and r.priority = l.priority
        and (r.due_at, r.task_id) >= (pgjobs.moment(l.floor[1]), coalesce(l.floor[2], 0))
      order by r.due_at, r.task_id
      limit 1
    ) as h on true
  )
  select k.job_id, k.priority, k.due_at, k.task_id
  from looked as k
  where k.due_at is not null
  order by k.due_at + k.priority * (select s.aging from pgjobs.settings as s), k.priority, k.task_id;
  perform set_config('pgjobs.look_cost', (pgjobs.clock_ms() - v_clock)::text, false);
end
$$;

comment on function pgjobs.lane_heads is
  'Heads of the lanes of some jobs, best first. Example: select * from pgjobs.lane_heads(array[1], pgjobs.now(), true)';

create function pgjobs.look_cost()
returns bigint
language sql stable
return coalesce(nullif(current_setting('pgjobs.look_cost', true), ''), '0')::bigint;

comment on function pgjobs.look_cost is
  'Milliseconds the last look at lane heads took in this session. Example: select pgjobs.look_cost()';

-- Moves tasks that have become due into their lanes, a bounded batch in order
-- of time, and wakes whoever waits for them.
create function pgjobs.promote_due(now timestamptz, batch integer default 500)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs.clock_ms();
  v_floor bigint[] := pgjobs.floor_get('scheduled', v_clock);
  v_head record;
  v_moved record;
  v_total integer := 0;
begin
  select s.run_at, s.task_id into v_head
  from pgjobs.scheduled as s
  where (s.run_at, s.task_id) >= (pgjobs.moment(v_floor[1]), coalesce(v_floor[2], 0))
  order by s.run_at, s.task_id
  limit 1;
  if v_floor is null or (v_head.run_at <= promote_due.now and v_head.task_id <> v_floor[2]) then
    perform pgjobs.floor_set(
      'scheduled', pgjobs.micros(least(v_head.run_at, promote_due.now)), coalesce(v_floor[3], v_clock + 1000),
      case when v_head.run_at <= promote_due.now then v_head.task_id else 0 end
    );
  end if;
  if v_head.run_at is null or v_head.run_at > promote_due.now then
    return 0;
  end if;
  for v_moved in
    with due as (
      delete from pgjobs.scheduled as s
      where s.ctid = any (array(
        select c.ctid
        from pgjobs.scheduled as c
        where (c.run_at, c.task_id) >= (v_head.run_at, v_head.task_id) and c.run_at <= promote_due.now
        order by c.run_at, c.task_id
        limit promote_due.batch
        for update skip locked
      ))
      returning s.*
    ), entered as (
      insert into pgjobs.ready (job_id, priority, attempt, due_at, task_id, is_again)
      select d.job_id, d.priority, d.attempt, d.run_at, d.task_id, true from due as d
      returning job_id
    )
    select job_id, count(*) as quantity from entered group by job_id
  loop
    perform pgjobs.wake(v_moved.job_id, v_moved.quantity);
    v_total := v_total + v_moved.quantity;
  end loop;
  return v_total;
end
$$;

comment on function pgjobs.promote_due is
  'Moves due tasks from scheduled to ready. Example: select pgjobs.promote_due(pgjobs.now())';
