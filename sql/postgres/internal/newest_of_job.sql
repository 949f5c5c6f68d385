-- Rooms that tasks were ever submitted from, one index probe each.
create function pgjobs.rooms_used()
returns setof text
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  with recursive used as (
    (select t.room from pgjobs.tasks as t order by t.room limit 1)
    union all
    select (select t.room from pgjobs.tasks as t where t.room > u.room order by t.room limit 1)
    from used as u
    where u.room is not null
  )
  select u.room from used as u where u.room is not null;
end
$$;

comment on function pgjobs.rooms_used is
  'Rooms with tasks submitted from them. Example: select * from pgjobs.rooms_used()';

-- Numbers of a job's newest tasks of some status, or of any, over all rooms.
--
-- Most lists end within the newest tasks of all. What is rare is looked for room
-- by room, which the index of rooms' tasks is made for: a job has none of its own,
-- since every submit would pay for it.
create function pgjobs.newest_of_job(job_id integer, status text, before bigint, wanted bigint)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_few constant integer := 20000;
  v_sample constant integer := 1000;
  v_ids bigint[];
begin
  if status in ('failed', 'cancelled') then
    return query
    select o.task_id from pgjobs.outcomes as o
    where o.status = newest_of_job.status and o.status <> 'completed'
      and o.job_id = newest_of_job.job_id and o.task_id < newest_of_job.before
    order by o.task_id desc
    limit wanted;
    return;
  elsif status in ('claimed', 'running', 'ignored') then
    return query
    select h.task_id
    from (
      select l.task_id, l.job_id, case when l.started_at is null then 'claimed' else 'running' end as status
      from pgjobs.leases as l
      union all
      select i.task_id, i.job_id, 'ignored' from pgjobs.ignored as i
    ) as h
    where h.job_id = newest_of_job.job_id and h.status = newest_of_job.status and h.task_id < newest_of_job.before
    order by h.task_id desc
    limit wanted;
    return;
  elsif status = 'pending' then
    v_ids := array(
      (select r.task_id from pgjobs.ready as r where r.job_id = newest_of_job.job_id limit v_few + 1)
      union all
      (select s.task_id from pgjobs.scheduled as s where s.job_id = newest_of_job.job_id limit v_few + 1)
    );
    if cardinality(v_ids) <= v_few then
      return query
      select i.id from unnest(v_ids) as i (id) where i.id < newest_of_job.before order by i.id desc limit wanted;
      return;
    end if;
  end if;
  v_ids := array(
    select n.id
    from (
      select t.id, t.job_id from pgjobs.tasks as t where t.id < newest_of_job.before order by t.id desc limit v_sample
    ) as n
    where n.job_id = newest_of_job.job_id
      and (newest_of_job.status is null or pgjobs.status_at_rest(n.id) = newest_of_job.status)
    order by n.id desc
    limit wanted
  );
  if cardinality(v_ids) = wanted then
    return query select i.id from unnest(v_ids) as i (id);
    return;
  end if;
  return query
  select n.id
  from pgjobs.rooms_used() as r (room)
  cross join lateral (
    select t.id
    from pgjobs.tasks as t
    where t.room = r.room and (t.job_id, t.id) > (newest_of_job.job_id, 0)
      and (t.job_id, t.id) < (newest_of_job.job_id, newest_of_job.before)
      and (newest_of_job.status is null or pgjobs.status_at_rest(t.id) = newest_of_job.status)
    order by t.room desc, t.job_id desc, t.id desc
    limit wanted
  ) as n
  order by n.id desc
  limit wanted;
end
$$;

comment on function pgjobs.newest_of_job is
  'Numbers of a job''s newest tasks. Example: select * from pgjobs.newest_of_job(1, ''completed'', 1000, 50)';

-- A task's status while nobody works on it: pending, or how it ended; else null.
create function pgjobs.status_at_rest(task_id bigint)
returns text
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_status text := (select o.status from pgjobs.outcomes as o where o.task_id = status_at_rest.task_id);
begin
  return case
    when v_status is not null then v_status
    when exists (select from pgjobs.leases as l where l.task_id = status_at_rest.task_id) then null
    when exists (select from pgjobs.ignored as i where i.task_id = status_at_rest.task_id) then null
    else 'pending'
  end;
end
$$;

comment on function pgjobs.status_at_rest is
  'A task''s status while nobody works on it. Example: select pgjobs.status_at_rest(42)';
