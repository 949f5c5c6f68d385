-- Puts ignored tasks back in line: due now, no attempts used. Named and answered as
-- in retry_tasks.
create function pgjobs.unignore_tasks(
  task_ids bigint[] default null,
  task_uuids uuid[] default null,
  actor text default null,
  reason text default null,
  dry_run boolean default false
)
returns table (task_id bigint, status text, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_named bigint[] := pgjobs._named_tasks(unignore_tasks.task_ids, unignore_tasks.task_uuids);
  v_done bigint[];
begin
  if unignore_tasks.dry_run then
    return query select j.* from pgjobs._judged_step(v_named, 'unignore') as j;
    return;
  end if;
  with gone as (
    delete from pgjobs.ignored as i where i.task_id = any (pgjobs._ids_sorted(v_named)) returning i.task_id
  )
  select array_agg(g.task_id) into v_done from gone as g;
  perform pgjobs._enter_lanes(v_done, v_now);
  perform pgjobs._record_actions(v_done, 'unignored', 'pending', unignore_tasks.actor, unignore_tasks.reason, v_now);
  return query select a.* from pgjobs._answered_step(v_named, v_done) as a;
end
$$;

comment on function pgjobs.unignore_tasks is
  'Stops ignoring tasks: they return to the queue. Example: select * from pgjobs.unignore_tasks(array[41, 42], actor => current_user)';
