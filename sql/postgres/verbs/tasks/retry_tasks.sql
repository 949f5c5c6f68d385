-- Starts tasks over: due now, no attempts used, their history kept. For tasks that
-- failed, were cancelled or ignored, or wait for a later time; named by number or by
-- public id. Answers per item: its status, and the problem's SQLSTATE if it was left
-- as it is. With `dry_run` it only tells.
create function pgjobs.retry_tasks(
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
  v_named bigint[] := pgjobs._named_tasks(retry_tasks.task_ids, retry_tasks.task_uuids);
  v_tasks bigint[] := pgjobs._ids_sorted(v_named);
  v_done bigint[];
  v_further bigint[];
begin
  if retry_tasks.dry_run then
    return query select j.* from pgjobs._judged_step(v_named, 'retry') as j;
    return;
  end if;
  v_done := array(select o.task_id from pgjobs._take_outcomes(v_tasks, array['failed', 'cancelled']) as o);
  with gone as (
    delete from pgjobs.ignored as i where i.task_id = any (v_tasks) returning i.task_id
  ), taken as (
    delete from pgjobs.scheduled as s where s.task_id = any (v_tasks) and s.waits_for is null returning s.task_id
  )
  select array_agg(f.task_id) into v_further
  from (select g.task_id from gone as g union all select t.task_id from taken as t) as f;
  v_done := v_done || v_further;
  perform pgjobs._enter_lanes(v_done, v_now);
  perform pgjobs._record_actions(v_done, 'retried', 'pending', retry_tasks.actor, retry_tasks.reason, v_now);
  return query select a.* from pgjobs._answered_step(v_named, v_done) as a;
end
$$;

comment on function pgjobs.retry_tasks is
  'Retries tasks from the beginning. Example: select * from pgjobs.retry_tasks(array(select task_id from pgjobs.failed limit 100), actor => current_user)';
