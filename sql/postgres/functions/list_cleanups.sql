-- Clean-up tasks, next due first, then those that changed last.
create function pgjobs.list_cleanups(
  statuses text[] default null,
  target_types text[] default null,
  of_node text default null,
  of_job text default null,
  page_size integer default 20,
  page_offset integer default 0
)
returns setof pgjobs.incomplete_cleanup_tasks
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
declare
  v_job integer := pgjobs.cleanup_job();
  v_is_narrowed boolean := num_nonnulls(list_cleanups.target_types, list_cleanups.of_node, list_cleanups.of_job) > 0;
  v_last integer := list_cleanups.page_offset + list_cleanups.page_size;
  v_tasks bigint[];
begin
  perform pgjobs.check_page(list_cleanups.page_size, list_cleanups.page_offset);
  perform pgjobs.check_cleanup_statuses(list_cleanups.statuses);
  -- Found first and shown afterwards: redacting is dear, and a page is short. When they
  -- changed is asked only of those that the page may reach, the done ones last.
  with open as materialized (
    select c.task_id, c.next_attempt_at, c.since
    from pgjobs.open_cleanups(v_job) as c
    where (list_cleanups.statuses is null or c.status = any (list_cleanups.statuses))
      and (not v_is_narrowed or (
        select pgjobs.is_wanted_cleanup(t.payload, list_cleanups.target_types, list_cleanups.of_node, list_cleanups.of_job)
        from pgjobs.tasks as t
        where t.id = c.task_id
      ))
  ), reach as materialized (
    select max(n.next_attempt_at) as next_attempt_at, count(*) >= v_last as is_enough
    from (select o.next_attempt_at from open as o where o.next_attempt_at is not null order by 1 limit v_last) as n
  ), found as (
    select o.task_id, o.next_attempt_at, o.since
    from open as o
    join reach as r on o.next_attempt_at <= r.next_attempt_at or (o.next_attempt_at is null and not r.is_enough)
    union all
    select d.task_id, null, d.ended_at
    from reach as r
    join pgjobs.tasks as t on t.room = '@internal' and t.job_id = v_job and not r.is_enough
    join pgjobs.outcomes as d on d.task_id = t.id and d.status = 'completed'
    where (list_cleanups.statuses is null or 'done' = any (list_cleanups.statuses))
      and (not v_is_narrowed or pgjobs.is_wanted_cleanup(
        t.payload, list_cleanups.target_types, list_cleanups.of_node, list_cleanups.of_job))
  )
  select array_agg(p.task_id) into v_tasks
  from (
    select f.task_id
    from found as f
    order by f.next_attempt_at nulls last, coalesce(f.since, pgjobs.cleanup_waits_since(f.task_id)) desc, f.task_id
    limit list_cleanups.page_size offset list_cleanups.page_offset
  ) as p;
  return query
  select c.*
  from pgjobs.incomplete_cleanup_tasks as c
  where c.task_id = any (v_tasks)
  order by array_position(v_tasks, c.task_id);
end
$$;

comment on function pgjobs.list_cleanups is
  'Clean-up tasks, next due first. Example: select run_id, status from pgjobs.list_cleanups(statuses => array[''blocked''])';
