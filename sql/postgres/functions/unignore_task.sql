-- Puts an ignored task back in line: due now, no attempts used.
create function pgjobs.unignore_task(task_id bigint, actor text default null, reason text default null)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_now timestamptz := pgjobs.now();
begin
  delete from pgjobs.ignored as i where i.task_id = unignore_task.task_id;
  if not found then
    perform pgjobs.refuse_step(unignore_task.task_id, 'unignore', 'ignored');
  end if;
  perform pgjobs.enter_lane(unignore_task.task_id, v_now);
  perform pgjobs.record_action(unignore_task.task_id, 'unignored', 'pending', unignore_task.actor, unignore_task.reason, v_now);
  return query select t.* from pgjobs.task as t where t.id = unignore_task.task_id;
end
$$;

comment on function pgjobs.unignore_task is
  'Puts an ignored task back in line. Example: select status from pgjobs.unignore_task(42, actor => current_user)';
