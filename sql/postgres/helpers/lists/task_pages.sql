-- How many rows a list looks at before it says "at least so many".
create function pgjobs._last_counted_row()
returns integer
language sql immutable
return 10000;

comment on function pgjobs._last_counted_row is
  'Totals are exact up to here. Example: select pgjobs._last_counted_row()';

-- Numbers of the room's newest tasks of these jobs, at most `wanted`.
--
-- A range of (job, id) rather than equality of the job, here and below: of constants
-- the order is free, and the planner would walk the primary key past everybody
-- else's tasks. The room is equal, because a range only ends by its first column.
create function pgjobs._newest_tasks(room text, job_ids integer[], before bigint, wanted bigint)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select n.id
  from unnest(_newest_tasks.job_ids) as j (id)
  cross join lateral (
    select t.id
    from pgjobs.tasks as t
    where t.room = _newest_tasks.room and (t.job_id, t.id) > (j.id, 0) and (t.job_id, t.id) < (j.id, _newest_tasks.before)
    order by t.room desc, t.job_id desc, t.id desc
    limit _newest_tasks.wanted
  ) as n
  order by n.id desc
  limit _newest_tasks.wanted;
end
$$;

comment on function pgjobs._newest_tasks is
  'Numbers of a room''s newest tasks. Example: select * from pgjobs._newest_tasks(''lab-7'', array[1], 1000, 50)';

-- Ended tasks of one status, found by walking the outcomes. Two queries, because
-- only one that says so can use the partial index over the unsuccessful.
create function pgjobs._newest_outcomes(room text, job_ids integer[], status text, before bigint, wanted bigint, looked integer)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if status = 'completed' then
    return query
    select t.id
    from (
      select o.task_id from pgjobs.outcomes as o
      where o.status = 'completed' and o.task_id < _newest_outcomes.before
        and (looked is not null or o.job_id = any (_newest_outcomes.job_ids))
      order by o.task_id desc
      limit looked
    ) as n
    cross join lateral (select b.id, b.room, b.job_id from pgjobs.tasks as b where b.id = n.task_id offset 0) as t
    where t.room = _newest_outcomes.room and t.job_id = any (_newest_outcomes.job_ids)
    order by n.task_id desc
    limit wanted;
  else
    return query
    select t.id
    from (
      select o.task_id from pgjobs.outcomes as o
      where o.status = _newest_outcomes.status and o.status <> 'completed' and o.task_id < _newest_outcomes.before
        and (looked is not null or o.job_id = any (_newest_outcomes.job_ids))
      order by o.task_id desc
      limit looked
    ) as n
    cross join lateral (select b.id, b.room, b.job_id from pgjobs.tasks as b where b.id = n.task_id offset 0) as t
    where t.room = _newest_outcomes.room and t.job_id = any (_newest_outcomes.job_ids)
    order by n.task_id desc
    limit wanted;
  end if;
end
$$;

comment on function pgjobs._newest_outcomes is
  'Numbers of a room''s ended tasks among the newest outcomes. Example: select * from pgjobs._newest_outcomes(''lab-7'', array[1], ''failed'', 1000, 50, 500)';

-- The same for ended tasks of one status. Either walks the room's tasks and
-- looks for outcomes or walks the outcomes and looks for the room, whichever
-- found more in a sample of the newest: each alone can be hopeless.
create function pgjobs._newest_ended(room text, job_ids integer[], status text, before bigint, wanted bigint)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_sample constant integer := 500;
  v_in_room integer;
  v_ended integer;
begin
  -- Few tasks end badly, and an index holds just those.
  if status <> 'completed' then
    return query
    select n.id
    from pgjobs._newest_outcomes(
      _newest_ended.room, _newest_ended.job_ids, _newest_ended.status, _newest_ended.before, _newest_ended.wanted, null
    ) as n (id);
    return;
  end if;
  select count(*), count(o.task_id)
  into v_in_room, v_ended
  from pgjobs._newest_tasks(_newest_ended.room, _newest_ended.job_ids, _newest_ended.before, v_sample) as n (id)
  left join pgjobs.outcomes as o on o.task_id = n.id and o.status = _newest_ended.status;
  if v_in_room = v_sample and v_ended <= (
    select count(*)
    from pgjobs._newest_outcomes(
      _newest_ended.room, _newest_ended.job_ids, _newest_ended.status, _newest_ended.before, v_sample, v_sample
    )
  ) then
    return query
    select n.id
    from pgjobs._newest_outcomes(
      _newest_ended.room, _newest_ended.job_ids, _newest_ended.status, _newest_ended.before, _newest_ended.wanted, null
    ) as n (id);
  else
    return query
    select e.id
    from unnest(_newest_ended.job_ids) as j (id)
    cross join lateral (
      select t.id
      from pgjobs.tasks as t
      join pgjobs.outcomes as o on o.task_id = t.id and o.status = _newest_ended.status
      where t.room = _newest_ended.room and (t.job_id, t.id) > (j.id, 0) and (t.job_id, t.id) < (j.id, _newest_ended.before)
      order by t.room desc, t.job_id desc, t.id desc
      limit _newest_ended.wanted
    ) as e
    order by e.id desc
    limit _newest_ended.wanted;
  end if;
end
$$;

comment on function pgjobs._newest_ended is
  'Numbers of a room''s newest ended tasks. Example: select * from pgjobs._newest_ended(''lab-7'', array[1], ''failed'', 1000, 50)';

-- The same for pending tasks: of a job with few, all of them; of a job with a
-- backlog the newest tasks, most of which are it.
create function pgjobs._newest_pending(room text, job_ids integer[], before bigint, wanted bigint)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_few integer := greatest(20000 / greatest(cardinality(job_ids), 1), 50);
  v_backlogs integer[];
  v_rest integer[];
begin
  v_backlogs := array(
    select j.id
    from unnest(_newest_pending.job_ids) as j (id)
    where (select count(*) from (select from pgjobs.ready as r where r.job_id = j.id limit v_few + 1) as f) > v_few
  );
  if (select count(*) from (select from pgjobs.scheduled limit 20001) as f) > 20000 then
    v_backlogs := _newest_pending.job_ids;
  end if;
  v_rest := array(select j.id from unnest(_newest_pending.job_ids) as j (id) where j.id <> all (v_backlogs));
  return query
  with few as (
    select r.task_id from pgjobs.ready as r where r.job_id = any (v_rest)
    union all
    select s.task_id from pgjobs.scheduled as s where s.job_id = any (v_rest)
  )
  select p.id
  from (
    select t.id from few as f
    join pgjobs.tasks as t on t.id = f.task_id and t.room = _newest_pending.room
    where t.id < _newest_pending.before
    union all
    select n.id
    from unnest(v_backlogs) as j (id)
    cross join lateral (
      select t.id
      from pgjobs.tasks as t
      where t.room = _newest_pending.room and (t.job_id, t.id) > (j.id, 0) and (t.job_id, t.id) < (j.id, _newest_pending.before)
        and not exists (select from pgjobs.outcomes as o where o.task_id = t.id)
        and not exists (select from pgjobs.leases as l where l.task_id = t.id)
        and not exists (select from pgjobs.ignored as i where i.task_id = t.id)
      order by t.room desc, t.job_id desc, t.id desc
      limit _newest_pending.wanted
    ) as n
  ) as p
  order by p.id desc
  limit _newest_pending.wanted;
end
$$;

comment on function pgjobs._newest_pending is
  'Numbers of a room''s newest pending tasks. Example: select * from pgjobs._newest_pending(''lab-7'', array[1], 1000, 50)';

-- Numbers of a room's newest tasks of some status, or of any.
create function pgjobs._page_of_tasks(room text, job_ids integer[], status text, before bigint, wanted bigint)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_before bigint := coalesce(before, 9223372036854775807);
begin
  if status is null then
    return query select n.id from pgjobs._newest_tasks(room, job_ids, v_before, wanted) as n (id);
  elsif status in ('completed', 'failed', 'cancelled') then
    return query select n.id from pgjobs._newest_ended(room, job_ids, status, v_before, wanted) as n (id);
  elsif status = 'pending' then
    return query select n.id from pgjobs._newest_pending(room, job_ids, v_before, wanted) as n (id);
  else
    return query
    select t.id
    from (
      select l.task_id, l.job_id, case when l.started_at is null then 'claimed' else 'running' end as status
      from pgjobs.leases as l
      union all
      select i.task_id, i.job_id, 'ignored' from pgjobs.ignored as i
    ) as h
    join pgjobs.tasks as t on t.id = h.task_id and t.room = _page_of_tasks.room and t.id < v_before
    where h.job_id = any (_page_of_tasks.job_ids) and h.status = _page_of_tasks.status
    order by t.id desc
    limit wanted;
  end if;
end
$$;

comment on function pgjobs._page_of_tasks is
  'Numbers of a room''s newest tasks of a status. Example: select * from pgjobs._page_of_tasks(''lab-7'', array[1], ''failed'', null, 50)';
