-- How many clean-up tasks list_cleanups would show in all.
create function pgjobs.count_cleanups(
  statuses text[] default null, target_types text[] default null, of_node text default null, of_job text default null
)
returns table (total bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
declare
  v_job integer := pgjobs.cleanup_job();
  v_is_narrowed boolean := num_nonnulls(count_cleanups.target_types, count_cleanups.of_node, count_cleanups.of_job) > 0;
begin
  perform pgjobs.check_cleanup_statuses(count_cleanups.statuses);
  -- What is done is what is not open, so no outcome is looked up.
  return query
  with wanted as materialized (
    select w.id from pgjobs.wanted_cleanups(v_job, count_cleanups.target_types, count_cleanups.of_node, count_cleanups.of_job) as w (id)
    where v_is_narrowed or count_cleanups.statuses is null or 'done' = any (count_cleanups.statuses)
  )
  select
    count(*) filter (where count_cleanups.statuses is null or c.status = any (count_cleanups.statuses))
    + case
      when count_cleanups.statuses is null or 'done' = any (count_cleanups.statuses)
        then (select count(*) from wanted) - count(*)
      else 0
    end
  from pgjobs.open_cleanups(v_job) as c
  where not v_is_narrowed or c.task_id in (select w.id from wanted as w);
end
$$;

comment on function pgjobs.count_cleanups is
  'How many clean-up tasks there are. Example: select total from pgjobs.count_cleanups(statuses => array[''abandoned''])';
