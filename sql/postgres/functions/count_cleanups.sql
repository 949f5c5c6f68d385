-- How many clean-up tasks list_cleanups would show in all.
create function pgjobs.count_cleanups(
  statuses text[] default null, target_types text[] default null, of_node text default null, of_job text default null
)
returns table (total bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
as $$
begin
  perform pgjobs.check_cleanup_statuses(count_cleanups.statuses);
  return query
  select count(*)
  from pgjobs.incomplete_cleanup_tasks as c
  where (count_cleanups.statuses is null or c.status = any (count_cleanups.statuses))
    and (count_cleanups.target_types is null or c.target_type = any (count_cleanups.target_types))
    and (count_cleanups.of_node is null or c.node_id = count_cleanups.of_node)
    and (count_cleanups.of_job is null or count_cleanups.of_job in (c.job_id::text, c.job_name));
end
$$;

comment on function pgjobs.count_cleanups is
  'How many clean-up tasks there are. Example: select total from pgjobs.count_cleanups(statuses => array[''abandoned''])';
