-- The first ten due tasks of every lane, in the order they will be claimed there.
create function pgjobs.waiting()
returns table (
  job text,
  priority smallint,
  place integer,
  task_id bigint,
  room text,
  due_at timestamptz,
  waited interval,
  attempt smallint,
  max_attempts smallint,
  owner text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
begin
  return query
  select
    j.full_name, l.priority, r.place, r.task_id, t.room, r.due_at, pgjobs._elapsed(r.due_at, v_now), r.attempt,
    t.max_attempts, t.owner
  from (select distinct a.job_id, a.priority from pgjobs.lanes as a) as l
  join pgjobs.jobs as j on j.id = l.job_id
  cross join lateral (
    select h.*, (row_number() over (order by h.due_at, h.task_id))::integer as place
    from (
      select c.task_id, c.due_at, c.attempt from pgjobs.ready as c
      where c.job_id = l.job_id and c.priority = l.priority
      order by c.due_at, c.task_id
      limit 10
    ) as h
  ) as r
  join pgjobs.tasks as t on t.id = r.task_id
  order by j.full_name, l.priority, r.place;
end
$$;

comment on function pgjobs.waiting is
  'The first ten due tasks of every lane. Example: select job, place, task_id, waited from pgjobs.waiting()';
