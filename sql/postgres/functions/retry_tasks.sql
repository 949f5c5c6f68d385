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
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_named bigint[] := pgjobs.named_tasks(retry_tasks.task_ids, retry_tasks.task_uuids);
  v_tasks bigint[] := pgjobs.in_order(v_named);
  v_done bigint[];
  v_further bigint[];
begin
  if retry_tasks.dry_run then
    return query select j.* from pgjobs.judged_step(v_named, 'retry') as j;
    return;
  end if;
  v_done := array(select o.task_id from pgjobs.take_outcomes(v_tasks, array['failed', 'cancelled']) as o);
  with gone as (
    delete from pgjobs.ignored as i where i.task_id = any (v_tasks) returning i.task_id
  ), taken as (
    delete from pgjobs.scheduled as s where s.task_id = any (v_tasks) returning s.task_id
  )
  select array_agg(f.task_id) into v_further
  from (select g.task_id from gone as g union all select t.task_id from taken as t) as f;
  v_done := v_done || v_further;
  perform pgjobs.enter_lanes(v_done, v_now);
  perform pgjobs.record_actions(v_done, 'retried', 'pending', retry_tasks.actor, retry_tasks.reason, v_now);
  return query select a.* from pgjobs.answered_step(v_named, v_done) as a;
end
$$;

comment on function pgjobs.retry_tasks is
  'Starts tasks over. Example: select * from pgjobs.retry_tasks(array(select task_id from pgjobs.failed limit 100), actor => current_user)';
