-- Refuses claims that cannot be, counts a claim as a sign of life, and says when
-- its leases end. One look for all, because a claim of one task is mostly looks.
create function pgjobs._check_claim(
  worker_id uuid, quantity integer, lease interval, holder text, actor text, durable boolean, now timestamptz
)
returns timestamptz
language plpgsql volatile
as $$
declare
  v_known record;
begin
  if not durable then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  if quantity is null or quantity not between 1 and 500 then
    perform pgjobs._refuse('validation-error', 'quantity must be between 1 and 500', format('Got %s.', quantity));
  end if;
  if worker_id is null and (lease is null or holder is null or holder = '' or length(holder) > 200) then
    perform pgjobs._refuse('validation-error', 'A claim without a registered worker needs a holder and a lease',
      null, 'Pass holder => ''name'' and lease => ''1 minute'', or register a worker.');
  end if;
  if lease <= interval '0' then
    -- It refuses.
    perform pgjobs._lease_until(_check_claim.lease, _check_claim.now);
  end if;
  select s.max_lease, s.worker_timeout, w.id, w.owner, w.last_heartbeat_at into v_known
  from pgjobs.settings as s
  left join pgjobs.workers as w on w.id = _check_claim.worker_id;
  if worker_id is not null then
    if v_known.id is null
      or v_known.owner is distinct from coalesce(pgjobs._actor(_check_claim.actor), v_known.owner)
    then
      perform pgjobs._find_worker(_check_claim.worker_id, _check_claim.actor);
    end if;
    if v_known.last_heartbeat_at < _check_claim.now - v_known.worker_timeout / 4 then
      update pgjobs.workers as w set last_heartbeat_at = _check_claim.now where w.id = _check_claim.worker_id;
    end if;
  end if;
  return pgjobs._capped_until(_check_claim.lease, v_known.max_lease, _check_claim.now);
end
$$;

comment on function pgjobs._check_claim is
  'Refuses claims that cannot be, and says when their leases end. Example: see pgjobs.claim_tasks, which calls it first';

-- The jobs a claim may take from, none in a closed room, and those of them that have a limit. Separate queries,
-- because one with all three conditions could use no index.
create function pgjobs._claimable_jobs(
  worker_id uuid, job_ids integer[], in_room text, in_category text, remote boolean,
  out jobs integer[], out limited integer[]
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
    coalesce(array_agg(j.id) filter (where j.max_running is not null), '{}')
  into _claimable_jobs.jobs, _claimable_jobs.limited
  from pgjobs.jobs as j
  where j.id = any (_claimable_jobs.jobs)
    and j.paused_at is null and j.archived_at is null and j.deleted_at is null
    and (j.room <> '@internal' or not remote)
    and (v_rooms is null or j.room = any (v_rooms));
end
$$;

comment on function pgjobs._claimable_jobs is
  'The jobs a claim may take from. Example: select * from pgjobs._claimable_jobs(null, null, ''@global'', null, false)';

-- Moves tasks that have become due into their lanes, a bounded batch in order
-- of time, and wakes whoever waits for them.
create function pgjobs._promote_due(now timestamptz, batch integer default 500)
returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs._clock_ms();
  v_floor bigint[];
  v_head record;
  v_moved record;
  v_total integer := 0;
begin
  begin
    v_floor := pgjobs._floor_read('scheduled');
  exception when data_exception then
    v_floor := null;
  end;
  if not pgjobs._floor_holds(v_floor, v_clock, 0, pgjobs._micros(_promote_due.now)) then
    v_floor := null;
  end if;
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
      returning job_id
    )
    select job_id, count(*) as quantity from entered group by job_id
  loop
    perform pgjobs._wake(v_moved.job_id, v_moved.quantity);
    v_total := v_total + v_moved.quantity;
  end loop;
  return v_total;
end
$$;

comment on function pgjobs._promote_due is
  'Moves due tasks from scheduled to ready. Example: select pgjobs._promote_due(pgjobs._now())';

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
