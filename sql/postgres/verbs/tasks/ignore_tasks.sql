-- Puts pending or failed tasks aside until somebody unignores or retries them. Named
-- and answered as in retry_tasks.
create function pgjobs.ignore_tasks(
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
  v_named bigint[] := pgjobs._named_tasks(ignore_tasks.task_ids, ignore_tasks.task_uuids);
  v_left bigint[] := pgjobs._ids_sorted(v_named);
  v_reason text := pgjobs._redact(ignore_tasks.reason);
  v_done bigint[] := '{}';
begin
  if length(v_reason) > 200 then
    perform pgjobs._refuse('validation-error', 'A reason has at most 200 characters');
  end if;
  if ignore_tasks.dry_run then
    return query select j.* from pgjobs._judged_step(v_named, 'ignore') as j;
    return;
  end if;
  -- A retry may bring one back into line between the two looks.
  for v_try in 1..3 loop
    with aside as (
      insert into pgjobs.ignored (task_id, job_id, attempt, ignored_at, actor, reason)
      select t.task_id, t.job_id, t.attempt, v_now, ignore_tasks.actor, v_reason
      from (
        select p.task_id, p.job_id, p.attempt from pgjobs._take_pending(v_left) as p
        union all
        select o.task_id, o.job_id, o.attempt from pgjobs._take_outcomes(v_left, array['failed']) as o
      ) as t
      returning task_id
    )
    select v_done || array_agg(a.task_id) into v_done from aside as a;
    v_left := pgjobs._ids_except(v_left, v_done);
    exit when v_left = '{}';
  end loop;
  perform pgjobs._record_actions(v_done, 'ignored', 'ignored', ignore_tasks.actor, v_reason, v_now);
  return query select a.* from pgjobs._answered_step(v_named, v_done) as a;
end
$$;

comment on function pgjobs.ignore_tasks is
  'Ignores tasks. Example: select * from pgjobs.ignore_tasks(array[41, 42], actor => current_user, reason => ''target is gone'')';
