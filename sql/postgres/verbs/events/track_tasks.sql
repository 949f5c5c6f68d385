-- How some tasks stand now, without their documents: what live events show of them.
create function pgjobs.track_tasks(task_ids bigint[])
returns table (
  id bigint,
  phase text,
  created_at timestamptz,
  started_at timestamptz,
  status text,
  error text,
  queue_position integer
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  if cardinality(track_tasks.task_ids) > 1000 then
    perform pgjobs._refuse('validation-error', 'task_ids has at most 1000 entries');
  end if;
  return query
  select
    t.id, t.phase, t.created_at, t.started_at, t.status, t.error,
    case when t.status = 'pending' then pgjobs._queue_position(t.id, t.job_id, t.priority) end
  from pgjobs.task as t
  where t.id = any (track_tasks.task_ids);
end
$$;

comment on function pgjobs.track_tasks is
  'The status of some tasks. Example: select id, status, queue_position from pgjobs.track_tasks(array[41, 42])';
