-- How many cleanup tasks list_cleanups would show in all.
create function pgjobs.count_cleanups(
  statuses text[] default null, target_types text[] default null, of_node text default null, of_job text default null,
  of_kind text default null
)
returns table (total bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._check_cleanup_statuses(count_cleanups.statuses);
  return query
  select c.total
  from pgjobs._chosen_cleanups(
    count_cleanups.statuses, count_cleanups.target_types, count_cleanups.of_node, count_cleanups.of_job, count_cleanups.of_kind, 0, 0
  ) as c;
end
$$;

comment on function pgjobs.count_cleanups is
  'How many cleanup tasks there are. Example: select total from pgjobs.count_cleanups(statuses => array[''abandoned''])';
