-- Behind every task of a lane. A function, because a constant of a verb costs each of its calls.
create function pgjobs._last_id()
returns bigint
language sql immutable
return 9223372036854775807;

comment on function pgjobs._last_id is 'A number behind every task. Example: select pgjobs._last_id()';

-- Where to take from, best lane first: due time of its head plus a step of `aging`
-- for each priority. A waiting task's key is fixed and newcomers' keys grow, so an
-- old task of low priority gets its turn. One index probe per lane; a worker of a
-- single lane, as most are, has nothing to choose and begins at the floor, unless
-- it `is_choosy`: then what it takes need not be the first, and says nothing of
-- what is below. Up to (until_at, until_id) a lane is better than the next.
--
-- Lanes are given by job and priority; heads are arrays that go by position. `were_floors`
-- says whether something may be below them.
create function pgjobs._lane_heads(
  lane_jobs integer[], lane_priorities smallint[], now timestamptz, ignore_floors boolean, is_choosy boolean,
  out jobs integer[], out priorities smallint[], out due_at timestamptz[], out task_ids bigint[],
  out floors bigint[], out until_at timestamptz[], out until_ids bigint[], out were_floors boolean
)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs._clock_ms();
  -- No floor is as young as that.
  v_noted_after bigint := case when _lane_heads.ignore_floors then pgjobs._last_id() else pgjobs._floors_wrong_until() end;
  v_floor bigint[];
begin
  if is_choosy or lane_jobs[1] <> any (lane_jobs) or lane_priorities[1] <> any (lane_priorities) then
    begin
      select r.* into jobs, priorities, due_at, task_ids, floors, until_at, until_ids, were_floors
      from pgjobs._ranked_heads(lane_jobs, lane_priorities, _lane_heads.now, v_clock, v_noted_after) as r;
    exception when data_exception then
      perform set_config('pgjobs.floor_' || a.job_id || '_' || a.priority, '', false)
      from unnest(lane_jobs, lane_priorities) as a (job_id, priority);
      select r.* into jobs, priorities, due_at, task_ids, floors, until_at, until_ids, were_floors
      from pgjobs._ranked_heads(lane_jobs, lane_priorities, _lane_heads.now, v_clock, v_noted_after) as r;
    end;
    perform pgjobs._floor_note_cost(v_clock);
    return;
  end if;
  v_floor := pgjobs._lane_floor(lane_jobs[1], lane_priorities[1], _lane_heads.now, ignore_floors);
  if v_floor is null then
    return;
  end if;
  were_floors := v_floor[5] is not null;
  jobs := array[lane_jobs[1]];
  priorities := array[lane_priorities[1]];
  due_at := array[pgjobs._timestamp(v_floor[1])];
  task_ids := array[v_floor[2]];
  floors := array[v_floor];
  until_at := '{infinity}';
  until_ids := '{null}';
end
$$;

comment on function pgjobs._lane_heads is
  'Where to take from, best lane first. Example: select * from pgjobs._lane_heads(array[1], array[5::smallint], pgjobs._now(), true, false)';

-- Where a lane begins: due time in microseconds, task, expiry and when that was noted; and 1, if it
-- is only remembered. Null if the lane is empty.
create function pgjobs._lane_floor(job_id integer, priority smallint, now timestamptz, ignore_floor boolean)
returns bigint[]
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs._clock_ms();
  v_lane text := _lane_floor.job_id || '_' || _lane_floor.priority;
  v_floor bigint[];
  v_due_at timestamptz;
  v_task bigint;
  v_expires bigint;
begin
  if not _lane_floor.ignore_floor then
    begin
      v_floor := pgjobs._floor_read(v_lane);
    exception when data_exception then
      v_floor := null;
    end;
    if pgjobs._floor_holds(v_floor, v_clock, pgjobs._floors_wrong_until(), pgjobs._micros(_lane_floor.now)) then
      return v_floor || 1::bigint;
    end if;
  end if;
  select r.due_at, r.task_id into v_due_at, v_task
  from pgjobs.ready as r
  where r.job_id = _lane_floor.job_id and r.priority = _lane_floor.priority
  order by r.due_at, r.task_id
  limit 1;
  perform pgjobs._floor_note_cost(v_clock);
  v_expires := pgjobs._next_look(v_clock);
  perform pgjobs._floor_at(v_lane, v_due_at, v_task, _lane_floor.now, v_expires, v_clock);
  return case when v_task is not null then array[pgjobs._micros(v_due_at), v_task, v_expires, v_clock] end;
end
$$;

comment on function pgjobs._lane_floor is
  'Where a lane begins, as far as this session knows. Example: select pgjobs._lane_floor(1, 5::smallint, pgjobs._now(), false)';

-- The heads of many lanes, best first, each with the next one's place as seen from
-- its lane. What it saw becomes each lane's floor.
create function pgjobs._ranked_heads(
  lane_jobs integer[], lane_priorities smallint[], now timestamptz, clock bigint, noted_after bigint,
  out jobs integer[], out priorities smallint[], out due_at timestamptz[], out task_ids bigint[],
  out floors bigint[], out until_at timestamptz[], out until_ids bigint[], out were_floors boolean
)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_expires bigint := pgjobs._next_look(_ranked_heads.clock);
  v_highest bigint := pgjobs._micros(_ranked_heads.now);
  v_aging interval := (select s.aging from pgjobs.settings as s);
begin
  with looked as materialized (
    select
      l.job_id, l.priority, h.due_at, h.task_id, l.floor is not null as was_floored,
      array[
        pgjobs._micros(h.due_at), h.task_id, coalesce(l.floor[3], v_expires), coalesce(l.floor[4], _ranked_heads.clock)
      ] as floor,
      case
        when l.floor is null
          then pgjobs._floor_at(l.lane, h.due_at, h.task_id, _ranked_heads.now, v_expires, _ranked_heads.clock)
        when h.task_id <> l.floor[2]
          then pgjobs._floor_at(l.lane, h.due_at, h.task_id, _ranked_heads.now, l.floor[3], l.floor[4])
      end
    from (
      select
        f.job_id, f.priority, f.lane,
        case
          when pgjobs._floor_holds(f.floor, _ranked_heads.clock, _ranked_heads.noted_after, v_highest) then f.floor
        end as floor
      from (
        select d.job_id, d.priority, d.lane, pgjobs._floor_read(d.lane) as floor
        from (
          select distinct a.job_id, a.priority, a.job_id || '_' || a.priority as lane
          from unnest(lane_jobs, lane_priorities) as a (job_id, priority)
        ) as d
        offset 0
      ) as f
      offset 0
    ) as l
    left join lateral (
      -- The head of last time is mostly still there, and one row is found a good deal
      -- sooner than the first of many: an index is read by the page.
      select r.due_at, r.task_id
      from pgjobs.ready as r
      where r.job_id = l.job_id and r.priority = l.priority
        and r.due_at = pgjobs._timestamp(l.floor[1]) and r.task_id = l.floor[2]
      union all
      (
        select r.due_at, r.task_id
        from pgjobs.ready as r
        where r.job_id = l.job_id and r.priority = l.priority
          and (r.due_at, r.task_id) >= (pgjobs._timestamp(l.floor[1]), coalesce(l.floor[2], 0))
        order by r.due_at, r.task_id
        limit 1
      )
      limit 1
    ) as h on true
  )
  select
    array_agg(o.job_id), array_agg(o.priority), array_agg(o.due_at), array_agg(o.task_id), array_agg(o.floor),
    array_agg(o.until_at), array_agg(o.until_id), (select bool_or(l.was_floored) from looked as l)
  into jobs, priorities, due_at, task_ids, floors, until_at, until_ids, were_floors
  from (
    select
      k.job_id, k.priority, k.due_at, k.task_id, k.floor,
      coalesce(lead(k.rank) over ranks - k.priority * v_aging, 'infinity') as until_at,
      case when k.priority = lead(k.priority) over ranks then lead(k.task_id) over ranks else pgjobs._last_id() end as until_id
    from (select l.*, pgjobs._known_moment(l.due_at) + l.priority * v_aging as rank from looked as l where l.due_at is not null) as k
    window ranks as (order by k.rank, k.priority, k.task_id)
    order by k.rank, k.priority, k.task_id
  ) as o;
end
$$;

comment on function pgjobs._ranked_heads is
  'Heads of many lanes, best first. Example: see pgjobs._lane_heads, which calls it';

-- Looking below the floors costs what the dead entries there cost. The dearest
-- look of the last ten seconds is remembered, and the next one put off by twenty
-- times as long. It takes two dear looks in a row: one alone may have waited for a
-- processor, and tasks that are due would not be found for it.
create function pgjobs._floor_note_cost(since bigint)
returns void
language plpgsql volatile
as $$
declare
  v_cost bigint := pgjobs._clock_ms() - _floor_note_cost.since;
  v_noted bigint[];
  v_known bigint;
  v_twice bigint;
begin
  -- Most looks cost nothing, and nothing is remembered.
  if v_cost = 0 and coalesce(current_setting('pgjobs.floor_look_cost', true), '') = '' then
    return;
  end if;
  v_noted := pgjobs._floor_get('look_cost', _floor_note_cost.since);
  v_known := coalesce(v_noted[1], 0);
  v_twice := least(v_cost, coalesce(v_noted[2], 0));
  perform pgjobs._floor_set(
    'look_cost', greatest(v_known, v_twice),
    case when v_twice >= v_known then _floor_note_cost.since + 10000 else v_noted[3] end, v_cost
  );
end
$$;

comment on function pgjobs._floor_note_cost is
  'Remembers what a look at lane heads cost. Example: select pgjobs._floor_note_cost(pgjobs._clock_ms())';
