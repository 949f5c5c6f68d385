-- One task as HTTP shows it, by its public id.
create function pgjobs.show_task(task_uuid uuid)
returns setof pgjobs.task_answer
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  return query
  select a.*
  from pgjobs.task_answer as a
  where a.id = pgjobs.task_id(show_task.task_uuid) and (v_rooms is null or a.room = any (v_rooms));
  if not found then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', show_task.task_uuid));
  end if;
end
$$;

comment on function pgjobs.show_task is
  'One task as HTTP shows it. Example: select status, queue_position from pgjobs.show_task(pgjobs.task_uuid(42))';
