-- Counting a room's tasks of one status stops at `wanted`, and after as many
-- candidates as are worth looking at; `is_all` tells whether there may be more.
--
-- Probes by number in a lateral with offset 0: whatever the planner believes, a
-- count that stops early must not read a whole table first.
create function pgjobs._count_pending(
  room text, job_ids integer[], wanted integer, looked integer, out matching integer, out is_all boolean
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  select count(*) filter (where k.is_here), count(*) < _count_pending.looked
  into matching, is_all
  from (
    select t.room = _count_pending.room as is_here
    from (
      select p.task_id
      from (
        select r.task_id
        from unnest(_count_pending.job_ids) as j (id)
        cross join lateral (select r.task_id from pgjobs.ready as r where r.job_id = j.id offset 0) as r
        union all
        select s.task_id from pgjobs.scheduled as s where s.job_id = any (_count_pending.job_ids)
      ) as p
      limit _count_pending.looked
    ) as c
    cross join lateral (select b.room from pgjobs.tasks as b where b.id = c.task_id offset 0) as t
  ) as k;
  is_all := is_all and matching < _count_pending.wanted;
end
$$;

comment on function pgjobs._count_pending is
  'Counts a room''s pending tasks. Example: select * from pgjobs._count_pending(''lab-7'', array[1], 101, 1000)';

create function pgjobs._count_ended(
  room text, job_ids integer[], status text, wanted integer, looked integer, out matching integer, out is_all boolean
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_tasks integer;
begin
  select count(*) into v_tasks
  from (
    select from pgjobs.tasks as t
    where t.room = _count_ended.room and t.job_id = any (_count_ended.job_ids)
    limit looked
  ) as c;
  select count(*) into matching
  from (
    select
    from (
      select t.id from pgjobs.tasks as t
      where t.room = _count_ended.room and t.job_id = any (_count_ended.job_ids)
      limit looked
    ) as c
    cross join lateral (
      select b.status from pgjobs.outcomes as b where b.task_id = c.id offset 0
    ) as o
    where o.status = _count_ended.status
    limit wanted
  ) as m;
  is_all := v_tasks < looked;
  if not is_all and matching < wanted then
    select greatest(matching, count(*)) into matching
    from pgjobs._newest_outcomes(room, job_ids, status, 9223372036854775807, wanted, null);
    is_all := matching < wanted;
  end if;
end
$$;

comment on function pgjobs._count_ended is
  'Counts a room''s ended tasks. Example: select * from pgjobs._count_ended(''lab-7'', array[1], ''failed'', 101, 1000)';
