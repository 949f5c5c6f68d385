-- Where to take from, best lane first: due time of its head plus a step of `aging`
-- for each priority. A waiting task's key is fixed and newcomers' keys grow, so an
-- old task of low priority gets its turn. One index probe per lane; a worker of a
-- single lane, as most are, has nothing to choose and begins at the floor, unless
-- it `is_choosy`: then what it takes need not be the first, and says nothing of
-- what is below. Up to (until_at, until_id) a lane is better than the next.
create function pgjobs._lane_heads(job_ids integer[], now timestamptz, ignore_floors boolean, is_choosy boolean)
returns table (
  job_id integer,
  priority smallint,
  due_at timestamptz,
  task_id bigint,
  lane text,
  floor bigint[],
  until_at timestamptz,
  until_id bigint
)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs._clock_ms();
  -- No floor is as young as that.
  v_noted_after bigint := case when _lane_heads.ignore_floors then 9223372036854775807 else pgjobs._floors_wrong_until() end;
begin
  select a.job_id, a.priority into job_id, priority from pgjobs.lanes as a where a.job_id = any (_lane_heads.job_ids) limit 1;
  if job_id is null then
    return;
  end if;
  if is_choosy or exists (
    select from pgjobs.lanes as a
    where a.job_id = any (_lane_heads.job_ids) and (a.job_id, a.priority) <> (_lane_heads.job_id, _lane_heads.priority)
  ) then
    begin
      return query select r.* from pgjobs._ranked_heads(_lane_heads.job_ids, _lane_heads.now, v_clock, v_noted_after) as r;
    exception when data_exception then
      perform set_config('pgjobs.floor_' || a.job_id || '_' || a.priority, '', false)
      from pgjobs.lanes as a
      where a.job_id = any (_lane_heads.job_ids);
      return query select r.* from pgjobs._ranked_heads(_lane_heads.job_ids, _lane_heads.now, v_clock, v_noted_after) as r;
    end;
    perform pgjobs._floor_note_cost(v_clock);
    return;
  end if;
  lane := job_id || '_' || priority;
  begin
    floor := pgjobs._floor_read(lane);
  exception when data_exception then
    floor := null;
  end;
  if pgjobs._floor_holds(floor, v_clock, v_noted_after, pgjobs._micros(_lane_heads.now)) then
    due_at := pgjobs._timestamp(floor[1]);
    task_id := floor[2];
  else
    select r.due_at, r.task_id into due_at, task_id
    from pgjobs.ready as r
    where r.job_id = _lane_heads.job_id and r.priority = _lane_heads.priority
    order by r.due_at, r.task_id
    limit 1;
    perform pgjobs._floor_note_cost(v_clock);
    floor := array[null, task_id, pgjobs._next_look(v_clock), v_clock];
    perform pgjobs._floor_at(lane, due_at, task_id, _lane_heads.now, floor[3], v_clock);
    if task_id is null then
      return;
    end if;
  end if;
  until_at := 'infinity';
  return next;
end
$$;

comment on function pgjobs._lane_heads is
  'Where to take from, best lane first. Example: select * from pgjobs._lane_heads(array[1], pgjobs._now(), true, false)';

-- The heads of many lanes, best first, each with the next one's place as seen from
-- its lane. What it saw becomes each lane's floor.
create function pgjobs._ranked_heads(job_ids integer[], now timestamptz, clock bigint, noted_after bigint)
returns table (
  job_id integer,
  priority smallint,
  due_at timestamptz,
  task_id bigint,
  lane text,
  floor bigint[],
  until_at timestamptz,
  until_id bigint
)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_expires bigint := pgjobs._next_look(_ranked_heads.clock);
  v_highest bigint := pgjobs._micros(_ranked_heads.now);
  v_aging interval := (select s.aging from pgjobs.settings as s);
begin
  return query
  with looked as materialized (
    select
      l.job_id, l.priority, h.due_at, h.task_id, l.lane,
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
          from pgjobs.lanes as a
          where a.job_id = any (_ranked_heads.job_ids)
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
    k.job_id, k.priority, k.due_at, k.task_id, k.lane, k.floor,
    coalesce(lead(k.rank) over ranks - k.priority * v_aging, 'infinity'),
    case when k.priority = lead(k.priority) over ranks then lead(k.task_id) over ranks else 9223372036854775807 end
  from (select l.*, pgjobs._known_moment(l.due_at) + l.priority * v_aging as rank from looked as l where l.due_at is not null) as k
  window ranks as (order by k.rank, k.priority, k.task_id)
  order by k.rank, k.priority, k.task_id;
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
  v_noted bigint[] := pgjobs._floor_get('look_cost', _floor_note_cost.since);
  v_known bigint := coalesce(v_noted[1], 0);
  v_twice bigint := least(v_cost, coalesce(v_noted[2], 0));
begin
  perform pgjobs._floor_set(
    'look_cost', greatest(v_known, v_twice),
    case when v_twice >= v_known then _floor_note_cost.since + 10000 else v_noted[3] end, v_cost
  );
end
$$;

comment on function pgjobs._floor_note_cost is
  'Remembers what a look at lane heads cost. Example: select pgjobs._floor_note_cost(pgjobs._clock_ms())';
