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
as $$
declare
  v_tasks bigint[];
begin
  perform pgjobs.check_page(list_cleanups.page_size, list_cleanups.page_offset);
  perform pgjobs.check_cleanup_statuses(list_cleanups.statuses);
  -- Found first and shown afterwards: redacting is dear, and a page is short.
  v_tasks := array(
    select c.task_id
    from pgjobs.incomplete_cleanup_tasks as c
    where (list_cleanups.statuses is null or c.status = any (list_cleanups.statuses))
      and (list_cleanups.target_types is null or c.target_type = any (list_cleanups.target_types))
      and (list_cleanups.of_node is null or c.node_id = list_cleanups.of_node)
      and (list_cleanups.of_job is null or list_cleanups.of_job in (c.job_id::text, c.job_name))
    order by c.next_attempt_at nulls last, c.updated_at desc, c.task_id
    limit list_cleanups.page_size offset list_cleanups.page_offset
  );
  return query
  select c.*
  from pgjobs.incomplete_cleanup_tasks as c
  where c.task_id = any (v_tasks)
  order by array_position(v_tasks, c.task_id);
end
$$;

comment on function pgjobs.list_cleanups is
  'Clean-up tasks, next due first. Example: select run_id, status from pgjobs.list_cleanups(statuses => array[''blocked''])';
