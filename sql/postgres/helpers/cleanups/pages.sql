-- Cleanup tasks about one of these types of target, this node and this job. Plain SQL,
-- so that a caller's query takes it in.
create function pgjobs._wanted_cleanups(job_id integer, target_types text[], of_node text, of_job text)
returns setof bigint
language sql stable
as $$
select t.id
from pgjobs.tasks as t
where t.room = '@internal' and t.job_id = _wanted_cleanups.job_id
  and (_wanted_cleanups.target_types is null or t.payload -> 'target' ->> 'type' = any (_wanted_cleanups.target_types))
  and (_wanted_cleanups.of_node is null or t.payload ->> 'node_id' = _wanted_cleanups.of_node)
  and (_wanted_cleanups.of_job is null or _wanted_cleanups.of_job in (t.payload ->> 'job_id', t.payload ->> 'job_name'))
$$;

comment on function pgjobs._wanted_cleanups is
  'Cleanup tasks that fit some filters. Example: select * from pgjobs._wanted_cleanups(pgjobs._cleanup_job(), null, ''hub'', null)';

-- Cleanup tasks that are not done, by where they are: few, however many were done and
-- however long the queue is. Plain SQL, so that a caller's query takes it in.
create function pgjobs._open_cleanups(job_id integer)
returns table (task_id bigint, status text, next_attempt_at timestamptz, since timestamptz)
language sql stable
as $$
select
  p.task_id,
  coalesce(p.status, case
    when p.attempt = 0 then 'queued'
    when (
      select e.error_kind from pgjobs.attempts as e where e.task_id = p.task_id order by e.id desc limit 1
    ) in ('auth', 'config') then 'blocked'
    else 'retrying'
  end),
  p.next_attempt_at,
  p.since
from (
  select r.task_id, r.job_id, r.attempt, null::text as status, r.due_at as next_attempt_at, null::timestamptz as since
  from pgjobs.ready as r
  union all
  select s.task_id, s.job_id, s.attempt, null, s.run_at, null from pgjobs.scheduled as s
  union all
  select l.task_id, l.job_id, l.attempt, 'running', null, l.claimed_at from pgjobs.leases as l where l.task_id > 0
  union all
  select i.task_id, i.job_id, i.attempt, 'ignored', null, i.ignored_at from pgjobs.ignored as i where i.task_id > 0
  union all
  select o.task_id, o.job_id, o.attempt, 'abandoned', null, o.ended_at from pgjobs.outcomes as o where o.status <> 'completed'
) as p
where p.job_id = _open_cleanups.job_id
$$;

comment on function pgjobs._open_cleanups is
  'Where cleanup tasks are that are not done. Example: select status, count(*) from pgjobs._open_cleanups(pgjobs._cleanup_job()) group by status';

-- What the last attempt of a cleanup task failed with, if it is not done.
create function pgjobs._cleanup_error_kind(task_id bigint)
returns text
language sql stable
as $$
select coalesce(
  (select o.error_kind from pgjobs.outcomes as o where o.task_id = _cleanup_error_kind.task_id),
  (select e.error_kind from pgjobs.attempts as e where e.task_id = _cleanup_error_kind.task_id order by e.id desc limit 1)
)
$$;

comment on function pgjobs._cleanup_error_kind is
  'What the last attempt of a cleanup failed with. Example: select pgjobs._cleanup_error_kind(42)';

-- A page of cleanup tasks by their numbers, in the order of list_cleanups, and how many
-- there are on all pages: counting and listing read the same rows.
create function pgjobs._chosen_cleanups(
  statuses text[],
  target_types text[],
  of_node text,
  of_job text,
  of_kind text,
  page_size integer,
  page_offset integer,
  out task_ids bigint[],
  out total bigint
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job integer := pgjobs._cleanup_job();
  v_is_narrowed boolean := num_nonnulls(_chosen_cleanups.target_types, _chosen_cleanups.of_node, _chosen_cleanups.of_job) > 0;
  v_open bigint;
  v_wanted bigint;
begin
  if _chosen_cleanups.statuses = array['done'] and not v_is_narrowed then
    task_ids := '{}';
    total := 0;
    v_open := (select count(*) from pgjobs._open_cleanups(v_job));
  else
    with wanted as materialized (
      select w.id
      from pgjobs._wanted_cleanups(v_job, _chosen_cleanups.target_types, _chosen_cleanups.of_node, _chosen_cleanups.of_job) as w (id)
      where v_is_narrowed
    ), open as materialized (
      select
        c.task_id, c.next_attempt_at, c.since,
        (_chosen_cleanups.statuses is null or c.status = any (_chosen_cleanups.statuses))
          and (_chosen_cleanups.of_kind is null or pgjobs._cleanup_error_kind(c.task_id) = _chosen_cleanups.of_kind) as is_chosen
      from pgjobs._open_cleanups(v_job) as c
      where not v_is_narrowed or c.task_id in (select w.id from wanted as w)
    )
    select
      array(
        select o.task_id
        from open as o
        where o.is_chosen
        order by o.next_attempt_at nulls last, o.since desc, o.task_id
        limit _chosen_cleanups.page_size offset _chosen_cleanups.page_offset
      ),
      count(*) filter (where o.is_chosen), count(*), (select count(*) from wanted)
    into task_ids, total, v_open, v_wanted
    from open as o;
  end if;
  if not 'done' = any (_chosen_cleanups.statuses) or _chosen_cleanups.of_kind is not null then
    return;
  end if;
  -- What is done is what is not open, so no outcome is looked up.
  if not v_is_narrowed then
    v_wanted := (select count(*) from pgjobs._wanted_cleanups(v_job, null, null, null));
  end if;
  if cardinality(task_ids) < _chosen_cleanups.page_size and v_wanted > v_open then
    task_ids := task_ids || array(
      select w.id
      from pgjobs._wanted_cleanups(v_job, _chosen_cleanups.target_types, _chosen_cleanups.of_node, _chosen_cleanups.of_job) as w (id)
      where w.id not in (select c.task_id from pgjobs._open_cleanups(v_job) as c)
      order by w.id desc
      limit _chosen_cleanups.page_size - cardinality(task_ids)
      offset greatest(_chosen_cleanups.page_offset - total, 0)
    );
  end if;
  total := total + v_wanted - v_open;
end
$$;

comment on function pgjobs._chosen_cleanups is
  'A page of cleanup tasks by number. Example: select task_ids, total from pgjobs._chosen_cleanups(null, null, ''hub'', null, null, 20, 0)';
