-- The highest place in line that is counted; further back it says just that.
create function pgjobs.last_counted_place()
returns integer
language sql immutable
return 1000;

comment on function pgjobs.last_counted_place is
  'Places in line are counted up to here. Example: select pgjobs.last_counted_place()';

-- A pending task's place among those of its job: due ones in order of claim,
-- then the scheduled ones by time. Looks at a bounded number of entries.
create function pgjobs.queue_position(task_id bigint, job_id integer, priority smallint)
returns integer
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_last integer := pgjobs.last_counted_place();
  v_seq bigint;
  v_run_at timestamptz;
  v_ahead integer;
begin
  select r.seq into v_seq from pgjobs.ready as r
  where r.job_id = queue_position.job_id and r.priority = queue_position.priority and r.seq = queue_position.task_id;
  if v_seq is null then
    select r.seq into v_seq from pgjobs.ready as r
    where r.task_id = queue_position.task_id and r.seq <> r.task_id;
  end if;
  if v_seq is null then
    select s.run_at into v_run_at from pgjobs.scheduled as s where s.task_id = queue_position.task_id;
    if v_run_at is null then
      return null;
    end if;
  end if;
  select count(*) into v_ahead
  from (
    select from pgjobs.ready as r
    where r.job_id = queue_position.job_id
      and (r.priority, r.seq) < (coalesce(queue_position.priority, 0), coalesce(v_seq, 0))
      and v_seq is not null
    limit v_last
  ) as a;
  if v_seq is null then
    select (select count(*) from (select from pgjobs.ready as r where r.job_id = queue_position.job_id limit v_last) as d)
      + count(*) filter (where e.job_id = queue_position.job_id)
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

comment on function pgjobs.queue_position is
  'A pending task''s place in line, counted up to pgjobs.last_counted_place(). Example: select pgjobs.queue_position(42, 1, 5::smallint)';

-- Every job with a task submitted from the room: one index probe for each.
create function pgjobs.jobs_used_in(room text)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return array(
    with recursive used as (
      (
        select t.job_id from pgjobs.tasks as t
        where t.room = jobs_used_in.room
        order by t.job_id
        limit 1
      )
      union all
      select (
        select t.job_id from pgjobs.tasks as t
        where t.room = jobs_used_in.room and t.job_id > u.job_id
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

comment on function pgjobs.jobs_used_in is
  'Jobs with tasks submitted from a room. Example: select pgjobs.jobs_used_in(''lab-7'')';
