-- Takes a task to another status on behalf of somebody, without their having to
-- know the lease: the owner of the task's worker or a superuser may, and whoever
-- submitted it as long as no worker has it. A `token` that is not the current
-- one is refused as lost, and saying again what was said under it changes nothing.
-- An ending retires the job if that leaves it orphaned.
--
-- The lease is locked before anything is judged, so the holder cannot change.
create function pgjobs.update_task(
  task_uuid uuid,
  status text,
  error text default null,
  result jsonb default null,
  token uuid default null,
  actor text default null,
  is_superuser boolean default false
)
returns setof pgjobs.task_answer
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_id bigint := pgjobs.task_id(update_task.task_uuid);
  v_token uuid;
  v_task record;
  v_problem text;
begin
  select l.token into v_token from pgjobs.leases as l where l.task_id = v_id for update;
  select t.id, t.job_id, t.submitter, t.status, t.worker_id into v_task from pgjobs.task as t where t.id = v_id;
  if v_task.id is null then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', update_task.task_uuid));
  end if;
  -- The lease before its owner: a worker whose task passed on to somebody else's is told that.
  if not pgjobs.is_said_before(
    v_id, update_task.task_uuid, v_token, update_task.token, v_task.status, update_task.status
  ) then
    perform pgjobs.check_updater(
      update_task.task_uuid, v_task.worker_id, v_task.submitter, update_task.actor, update_task.is_superuser
    );
    perform pgjobs.check_update(v_task.status, update_task.status);
    v_problem := case update_task.status
      when 'running' then (select s.problem from pgjobs.start_tasks(array[v_id], array[v_token]) as s)
      when 'completed' then (
        select c.problem from pgjobs.complete_tasks(
          array[v_id], array[v_token], case when update_task.result is not null then array[update_task.result] end
        ) as c
      )
      when 'failed' then (
        select f.problem
        from pgjobs.fail_tasks(array[v_id], array[v_token], array[coalesce(update_task.error, 'unknown error')]) as f
      )
      when 'cancelled' then (
        select null from pgjobs.cancel_task(v_id, update_task.error, v_task.status <> 'pending', update_task.actor)
      )
    end;
    if v_problem is not null then
      perform pgjobs.refuse('lease-lost', format('The lease of task %s is lost', update_task.task_uuid));
    end if;
    if update_task.status <> 'running' then
      perform pgjobs.retire_orphans(array[v_task.job_id], pgjobs.now());
    end if;
  end if;
  -- What was just written stands in three tables; the view that knows every case looks in all.
  return query
  select
    t.id, update_task.task_uuid, j.full_name, t.room, coalesce(o.status, 'running'), t.created_at,
    coalesce(o.started_at, l.started_at), o.ended_at, coalesce(o.worker_id, l.worker_id),
    coalesce(o.error, o.reason), t.payload, o.result, null::integer
  from pgjobs.tasks as t
  join pgjobs.jobs as j on j.id = t.job_id
  left join pgjobs.leases as l on l.task_id = t.id and l.started_at is not null
  left join pgjobs.outcomes as o on o.task_id = t.id
  where t.id = v_id and (o.task_id is not null or l.task_id is not null);
  if not found then
    return query select a.* from pgjobs.task_answer as a where a.id = v_id;
  end if;
end
$$;

comment on function pgjobs.update_task is
  'Takes a task to another status. Example: select status from pgjobs.update_task(pgjobs.task_uuid(42), ''cancelled'', actor => ''ada'')';
