-- Says why a claim cannot be. Not called for one that can, because a claim of one task is mostly checks.
create function pgjobs._refuse_claim(worker_id uuid, quantity integer, lease interval, holder text)
returns void
language plpgsql stable
as $$
begin
  if quantity is null or quantity not between 1 and 500 then
    perform pgjobs._refuse('validation-error', 'quantity must be between 1 and 500', format('Got %s.', quantity));
  end if;
  if worker_id is null and (lease is null or holder is null or holder = '' or length(holder) > 200) then
    perform pgjobs._refuse('validation-error', 'A claim without a registered worker needs a holder and a lease',
      null, 'Pass holder => ''name'' and lease => ''1 minute'', or register a worker.');
  end if;
  -- It refuses.
  perform pgjobs._lease_until(_refuse_claim.lease, pgjobs._now());
end
$$;

comment on function pgjobs._refuse_claim is
  'Refuses claims that cannot be. Example: select pgjobs._refuse_claim(null, 501, ''1 minute'', ''me'')';

-- The jobs a claim may take from, none in a closed room, and those of them that have a limit
-- or share by key. Separate queries, because one with all three conditions could use no index.
create function pgjobs._claimable_jobs(
  worker_id uuid, job_ids integer[], in_room text, in_category text, remote boolean,
  out jobs integer[], out limited integer[], out shared integer[]
)
language plpgsql stable
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if v_rooms is not null and in_room is not null then
    perform pgjobs._enter(_claimable_jobs.in_room);
  end if;
  jobs := _claimable_jobs.job_ids;
  if jobs is null and in_room is not null then
    jobs := array(
      select j.id from pgjobs.jobs as j
      where j.room = in_room and j.category = coalesce(in_category, j.category)
    );
  elsif jobs is null then
    jobs := array(select w.job_id from pgjobs.worker_jobs as w where w.worker_id = _claimable_jobs.worker_id);
  end if;
  select
    coalesce(array_agg(j.id), '{}'),
    coalesce(array_agg(j.id) filter (where j.max_running is not null), '{}'),
    array_agg(j.id) filter (where j.is_shared or j.is_capped)
  into _claimable_jobs.jobs, _claimable_jobs.limited, _claimable_jobs.shared
  from pgjobs.jobs as j
  where j.id = any (_claimable_jobs.jobs)
    and j.paused_at is null and j.archived_at is null and j.deleted_at is null
    and (j.room <> '@internal' or not remote)
    and (v_rooms is null or j.room = any (v_rooms));
end
$$;

comment on function pgjobs._claimable_jobs is
  'The jobs a claim may take from. Example: select * from pgjobs._claimable_jobs(null, null, ''@global'', null, false)';

-- Below which nothing is scheduled, as this session remembers it; null if it does not.
create function pgjobs._schedule_floor(now timestamptz)
returns bigint[]
language plpgsql volatile
as $$
declare
  -- A variable: what is used twice and volatile is not inlined.
  v_clock bigint := pgjobs._clock_ms();
  v_floor bigint[];
begin
  v_floor := pgjobs._floor_read('scheduled');
  return case when pgjobs._floor_holds(v_floor, v_clock, 0, pgjobs._micros(_schedule_floor.now)) then v_floor end;
exception when data_exception then
  return null;
end
$$;

comment on function pgjobs._schedule_floor is
  'Below which nothing is scheduled. Example: select pgjobs._schedule_floor(pgjobs._now())';

-- What a claim goes by: until when its leases last, the lanes it may take from, and which of
-- their jobs have a limit or ask for full events. Counts it as a heartbeat and promotes what
-- has become due. Few looks, because a claim of one task is mostly looks. Twin: _claimable_jobs.
create function pgjobs._open_claim(
  worker_id uuid, job_ids integer[], in_room text, in_category text, lease interval, remote boolean, actor text,
  now timestamptz,
  out until timestamptz, out jobs integer[], out priorities smallint[], out limited integer[], out told integer[],
  out shared integer[], out are_targeted boolean
)
language plpgsql volatile
as $$
declare
  v_rooms text[] := pgjobs._rooms();
  v_jobs integer[] := case
    when _open_claim.in_room is null then _open_claim.job_ids
    else (pgjobs._claimable_jobs(
      _open_claim.worker_id, _open_claim.job_ids, _open_claim.in_room, _open_claim.in_category, _open_claim.remote
    )).jobs
  end;
  v_schedule bigint[] := pgjobs._schedule_floor(_open_claim.now);
  v_worker record;
  v_is_due boolean;
  v_are_special boolean;
begin
  if _open_claim.worker_id is not null then
    select
      w.id, w.owner, w.last_heartbeat_at < _open_claim.now - s.worker_timeout / 4 as is_silent,
      coalesce(v_jobs, array(select k.job_id from pgjobs.worker_jobs as k where k.worker_id = _open_claim.worker_id)) as jobs
    into v_worker
    from pgjobs.settings as s
    left join pgjobs.workers as w on w.id = _open_claim.worker_id;
    v_jobs := v_worker.jobs;
    if v_worker.id is null or v_worker.owner is distinct from coalesce(pgjobs._actor(_open_claim.actor), v_worker.owner) then
      perform pgjobs._find_worker(_open_claim.worker_id, _open_claim.actor);
    end if;
    if v_worker.is_silent then
      update pgjobs.workers as w set last_heartbeat_at = _open_claim.now where w.id = _open_claim.worker_id;
    end if;
  end if;
  select
    pgjobs._capped_until(_open_claim.lease, (select s.max_lease from pgjobs.settings as s), _open_claim.now),
    v_schedule is null or exists (
      select from pgjobs.scheduled as c
      where (c.run_at, c.task_id) >= (pgjobs._timestamp(v_schedule[1]), v_schedule[2]) and c.run_at <= _open_claim.now
    ),
    array_agg(j.id), array_agg(a.priority), bool_or(j.max_running is not null or j.events = 'full' or j.is_shared or j.is_capped),
    exists (select from pgjobs.targets)
  into
    _open_claim.until, v_is_due, _open_claim.jobs, _open_claim.priorities, v_are_special, _open_claim.are_targeted
  from pgjobs.jobs as j
  join pgjobs.lanes as a on a.job_id = j.id
  where j.id = any (v_jobs)
    and j.paused_at is null and j.archived_at is null and j.deleted_at is null
    and (j.room <> '@internal' or not _open_claim.remote)
    and (v_rooms is null or j.room = any (v_rooms));
  if v_is_due then
    perform pgjobs._promote_due(_open_claim.now);
  end if;
  if pgjobs._are_dependencies_used() then
    perform pgjobs._release_settled(_open_claim.now);
  end if;
  if v_are_special then
    select
      array_agg(j.id) filter (where j.max_running is not null), array_agg(j.id) filter (where j.events = 'full'),
      array_agg(j.id) filter (where j.is_shared or j.is_capped)
    into _open_claim.limited, _open_claim.told, _open_claim.shared
    from pgjobs.jobs as j
    where j.id = any (_open_claim.jobs);
  end if;
end
$$;

comment on function pgjobs._open_claim is
  'What a claim goes by. Example: see pgjobs.claim_tasks, which calls it first';

-- Moves tasks that have become due into their lanes, a bounded batch in order
-- of time, and wakes whoever waits for them.
create function pgjobs._promote_due(now timestamptz, batch integer default 500)
returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs._clock_ms();
  v_floor bigint[] := pgjobs._schedule_floor(_promote_due.now);
  v_head record;
  v_moved record;
  v_total integer := 0;
begin
  select s.run_at, s.task_id into v_head
  from pgjobs.scheduled as s
  where (s.run_at, s.task_id) >= (pgjobs._timestamp(v_floor[1]), coalesce(v_floor[2], 0))
  order by s.run_at, s.task_id
  limit 1;
  if v_floor is null or (v_head.run_at <= _promote_due.now and v_head.task_id <> v_floor[2]) then
    perform pgjobs._floor_at(
      'scheduled', v_head.run_at, v_head.task_id, _promote_due.now, coalesce(v_floor[3], v_clock + 1000), v_clock
    );
  end if;
  if v_head.run_at is null or v_head.run_at > _promote_due.now then
    return 0;
  end if;
  for v_moved in
    with due as (
      delete from pgjobs.scheduled as s
      where s.ctid = any (array(
        select c.ctid
        from pgjobs.scheduled as c
        where (c.run_at, c.task_id) >= (v_head.run_at, v_head.task_id) and c.run_at <= _promote_due.now
        order by c.run_at, c.task_id
        limit _promote_due.batch
        for update skip locked
      ))
      returning s.*
    ), entered as (
      insert into pgjobs.ready (job_id, priority, attempt, due_at, task_id, is_again, updated_at)
      select d.job_id, d.priority, d.attempt, d.run_at, d.task_id, true, d.updated_at from due as d
      returning job_id, task_id
    )
    select job_id, count(*) as quantity, array_agg(task_id) as task_ids from entered group by job_id
  loop
    perform pgjobs._tell_returned(v_moved.task_ids, 'due');
    perform pgjobs._enter_keys(v_moved.task_ids);
    perform pgjobs._wake(v_moved.job_id, v_moved.quantity);
    v_total := v_total + v_moved.quantity;
  end loop;
  return v_total;
end
$$;

comment on function pgjobs._promote_due is
  'Moves due tasks from scheduled to ready. Example: select pgjobs._promote_due(pgjobs._now())';
