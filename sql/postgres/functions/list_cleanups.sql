-- Clean-up tasks, next due first; then those that wait for nothing, changed last first;
-- then those that are done, newest first.
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
  v_tasks bigint[] := '{}';
  v_open bigint := 0;
begin
  perform pgjobs.check_page(list_cleanups.page_size, list_cleanups.page_offset);
  perform pgjobs.check_cleanup_statuses(list_cleanups.statuses);
  -- Found first and shown afterwards: redacting is dear, and a page is short.
  if list_cleanups.statuses is null or list_cleanups.statuses <> array['done'] then
    with wanted as materialized (
      select w.id from pgjobs.wanted_cleanups(v_job, list_cleanups.target_types, list_cleanups.of_node, list_cleanups.of_job) as w (id)
      where v_is_narrowed
    ), open as materialized (
      select c.task_id, c.next_attempt_at, c.since
      from pgjobs.open_cleanups(v_job) as c
      where (list_cleanups.statuses is null or c.status = any (list_cleanups.statuses))
        and (not v_is_narrowed or c.task_id in (select w.id from wanted as w))
    )
    select
      array(
        select o.task_id
        from open as o
        order by o.next_attempt_at nulls last, o.since desc, o.task_id
        limit list_cleanups.page_size offset list_cleanups.page_offset
      ),
      (select count(*) from open)
    into v_tasks, v_open;
  end if;
  if cardinality(v_tasks) < list_cleanups.page_size and (list_cleanups.statuses is null or 'done' = any (list_cleanups.statuses)) then
    -- What is done is what is not open, so no outcome is looked up.
    v_tasks := v_tasks || array(
      select w.id
      from pgjobs.wanted_cleanups(v_job, list_cleanups.target_types, list_cleanups.of_node, list_cleanups.of_job) as w (id)
      where w.id not in (select c.task_id from pgjobs.open_cleanups(v_job) as c)
      order by w.id desc
      limit list_cleanups.page_size - cardinality(v_tasks)
      offset greatest(list_cleanups.page_offset - v_open, 0)
    );
  end if;
  return query select c.* from pgjobs.shown_cleanups(v_tasks) as c;
end
$$;

comment on function pgjobs.list_cleanups is
  'Clean-up tasks, next due first. Example: select run_id, status from pgjobs.list_cleanups(statuses => array[''blocked''])';
