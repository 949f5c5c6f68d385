-- The highest place in line that is counted; further back it says just that.
create function pgjobs._last_counted_place()
returns integer
language sql immutable
return 1000;

comment on function pgjobs._last_counted_place is
  'Queue positions are counted up to here. Example: select pgjobs._last_counted_place()';

-- A pending task's place among those of its job: due ones in order of claim,
-- then the scheduled ones by time. Looks at a bounded number of entries. In the line of
-- a shared job others wait too, so whoever is confined to rooms is not told.
create function pgjobs._queue_position(task_id bigint, job_id integer, priority smallint)
returns integer
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_last integer := pgjobs._last_counted_place();
  v_rooms text[] := pgjobs._rooms();
  v_due_at timestamptz;
  v_run_at timestamptz;
  v_ahead integer;
begin
  if v_rooms is not null and not exists (
    select from pgjobs.jobs as j where j.id = _queue_position.job_id and j.room = any (v_rooms)
  ) then
    return null;
  end if;
  select coalesce(r.due_at, a.due_at) into v_due_at
  from pgjobs.tasks as t
  left join pgjobs.ready as r
    on r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
  left join pgjobs.ready as a on a.task_id = t.id and a.is_again
  where t.id = _queue_position.task_id;
  if v_due_at is null then
    select s.run_at into v_run_at from pgjobs.scheduled as s where s.task_id = _queue_position.task_id;
    if v_run_at is null then
      return null;
    end if;
  end if;
  select count(*) into v_ahead
  from (
    select from pgjobs.ready as r
    where r.job_id = _queue_position.job_id
      and (r.priority, r.due_at, r.task_id) < (_queue_position.priority, v_due_at, _queue_position.task_id)
    limit v_last
  ) as a;
  if v_due_at is null then
    select (select count(*) from (select from pgjobs.ready as r where r.job_id = _queue_position.job_id limit v_last) as d)
      + count(*) filter (where e.job_id = _queue_position.job_id)
    into v_ahead
    from (
      select s.job_id from pgjobs.scheduled as s
      where s.run_at < v_run_at
      order by s.run_at
      limit v_last
    ) as e;
  end if;
  return least(v_ahead + 1, v_last);
end
$$;

comment on function pgjobs._queue_position is
  'A pending task''s queue position, counted up to pgjobs._last_counted_place(). Example: select pgjobs._queue_position(42, 1, 5::smallint)';

-- The same for a page of tasks: one look at each job's line, not one for each task.
create function pgjobs._queue_positions(task_ids bigint[])
returns table (task_id bigint, place integer)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_last integer := pgjobs._last_counted_place();
  v_jobs integer[] := pgjobs._own_jobs();
begin
  return query
  with wanted as materialized (
    select t.id, t.job_id, t.priority, r.task_id is not null or a.task_id is not null as is_due
    from pgjobs.tasks as t
    left join pgjobs.ready as r
      on r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
    left join pgjobs.ready as a on a.task_id = t.id and a.is_again
    where t.id = any (_queue_positions.task_ids) and (v_jobs is null or t.job_id = any (v_jobs))
  ), line as materialized (
    select l.task_id, l.place
    from (select distinct w.job_id from wanted as w where w.is_due) as j
    cross join lateral (
      select f.task_id, (row_number() over (order by f.priority, f.due_at, f.task_id))::integer as place
      from (
        select o.task_id, o.priority, o.due_at from pgjobs.ready as o
        where o.job_id = j.job_id
        order by o.priority, o.due_at, o.task_id
        limit v_last
      ) as f
    ) as l
  )
  select
    w.id,
    case when w.is_due then coalesce(l.place, v_last) else pgjobs._queue_position(w.id, w.job_id, w.priority) end
  from wanted as w
  left join line as l on l.task_id = w.id;
end
$$;

comment on function pgjobs._queue_positions is
  'Queue positions of a page of tasks. Example: select * from pgjobs._queue_positions(array[41, 42])';

-- Every job with a task submitted from the room: one index probe for each.
create function pgjobs._jobs_used_in(room text)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return array(
    with recursive used as (
      (
        select t.job_id from pgjobs.tasks as t
        where t.room = _jobs_used_in.room
        order by t.job_id
        limit 1
      )
      union all
      select (
        select t.job_id from pgjobs.tasks as t
        where t.room = _jobs_used_in.room and t.job_id > u.job_id
        order by t.job_id
        limit 1
      )
      from used as u
      where u.job_id is not null
    )
    select u.job_id from used as u where u.job_id is not null
  );
end
$$;

comment on function pgjobs._jobs_used_in is
  'Jobs with tasks submitted from a room. Example: select pgjobs._jobs_used_in(''lab-7'')';
