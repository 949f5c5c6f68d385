-- Rooms that tasks were ever submitted from, one index probe each.
create function pgjobs._rooms_used()
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

comment on function pgjobs._rooms_used is
  'Rooms with tasks submitted from them. Example: select * from pgjobs._rooms_used()';

-- Numbers of a job's newest tasks of some status, or of any, over all rooms.
--
-- Most lists end within the newest tasks of all. What is rare is looked for room
-- by room, which the index of rooms' tasks is made for: a job has none of its own,
-- since every submit would pay for it.
create function pgjobs._newest_of_job(job_id integer, status text, before bigint, wanted bigint)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_few constant integer := 20000;
  v_sample constant integer := 1000;
  v_ids bigint[];
begin
  if status in ('failed', 'cancelled') then
    return query
    select o.task_id from pgjobs.outcomes as o
    where o.status = _newest_of_job.status and o.status <> 'completed'
      and o.job_id = _newest_of_job.job_id and o.task_id < _newest_of_job.before
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
    where h.job_id = _newest_of_job.job_id and h.status = _newest_of_job.status and h.task_id < _newest_of_job.before
    order by h.task_id desc
    limit wanted;
    return;
  elsif status = 'pending' then
    v_ids := array(
      (select r.task_id from pgjobs.ready as r where r.job_id = _newest_of_job.job_id limit v_few + 1)
      union all
      (select s.task_id from pgjobs.scheduled as s where s.job_id = _newest_of_job.job_id limit v_few + 1)
    );
    if cardinality(v_ids) <= v_few then
      return query
      select i.id from unnest(v_ids) as i (id) where i.id < _newest_of_job.before order by i.id desc limit wanted;
      return;
    end if;
  end if;
  v_ids := array(
    select n.id
    from (
      select t.id, t.job_id from pgjobs.tasks as t where t.id < _newest_of_job.before order by t.id desc limit v_sample
    ) as n
    where n.job_id = _newest_of_job.job_id
      and (_newest_of_job.status is null or pgjobs._status_at_rest(n.id) = _newest_of_job.status)
    order by n.id desc
    limit wanted
  );
  if cardinality(v_ids) = wanted then
    return query select i.id from unnest(v_ids) as i (id);
    return;
  end if;
  return query
  select n.id
  from pgjobs._rooms_used() as r (room)
  cross join lateral (
    select t.id
    from pgjobs.tasks as t
    where t.room = r.room and (t.job_id, t.id) > (_newest_of_job.job_id, 0)
      and (t.job_id, t.id) < (_newest_of_job.job_id, _newest_of_job.before)
      and (_newest_of_job.status is null or pgjobs._status_at_rest(t.id) = _newest_of_job.status)
    order by t.room desc, t.job_id desc, t.id desc
    limit wanted
  ) as n
  order by n.id desc
  limit wanted;
end
$$;

comment on function pgjobs._newest_of_job is
  'Numbers of a job''s newest tasks. Example: select * from pgjobs._newest_of_job(1, ''completed'', 1000, 50)';

-- A task's status while nobody works on it: pending, or how it ended; else null.
create function pgjobs._status_at_rest(task_id bigint)
returns text
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_status text := (select o.status from pgjobs.outcomes as o where o.task_id = _status_at_rest.task_id);
begin
  return case
    when v_status is not null then v_status
    when exists (select from pgjobs.leases as l where l.task_id = _status_at_rest.task_id) then null
    when exists (select from pgjobs.ignored as i where i.task_id = _status_at_rest.task_id) then null
    else 'pending'
  end;
end
$$;

comment on function pgjobs._status_at_rest is
  'A task''s status while nobody works on it. Example: select pgjobs._status_at_rest(42)';
