-- Takes a task to another status on behalf of somebody, without their having to
-- know the lease: the owner of the task's worker or a superuser may, and whoever
-- submitted it as long as no worker has it. A `token` that is not the current
-- one is refused as lost, and saying again what was said under it changes nothing.
-- An ending retires the job if that leaves it orphaned.
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
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint := pgjobs.task_id(update_task.task_uuid);
  v_now timestamptz := pgjobs._now();
  v_held record;
  v_done boolean := false;
begin
  -- The two steps of every worker, if one look finds nothing against them. The
  -- token decides when they are taken: whatever changed since then changed it too.
  select l.token, l.started_at, l.worker_id, l.job_id, t.room, t.created_at, t.payload, j.full_name
  into v_held
  from pgjobs.leases as l
  join pgjobs.tasks as t on t.id = l.task_id
  join pgjobs.jobs as j on j.id = l.job_id
  where l.task_id = v_id and l.token = coalesce(update_task.token, l.token)
    and update_task.status = case when l.started_at is null then 'running' else 'completed' end
    and (v_rooms is null or t.room = any (v_rooms) or j.room = any (v_rooms))
    and (update_task.actor is null or update_task.is_superuser or exists (
      select from pgjobs.workers as w where w.id = l.worker_id and w.owner = update_task.actor
    ));
  if found and update_task.status = 'running' then
    update pgjobs.leases as l set started_at = v_now
    where l.task_id = v_id and l.token = v_held.token and l.started_at is null and (l.until is null or l.until > v_now);
    v_done := found;
  elsif found then
    v_done := (
      select c.problem is null
      from pgjobs.complete_tasks(
        array[v_id], array[v_held.token], case when update_task.result is not null then array[update_task.result] end
      ) as c
    );
    if v_done and not exists (select from pgjobs.worker_jobs as w where w.job_id = v_held.job_id) then
      perform pgjobs._retire_orphans(array[v_held.job_id], v_now);
    end if;
  end if;
  if v_done then
    return query
    select
      v_id, update_task.task_uuid, v_held.full_name, v_held.room, update_task.status, v_held.created_at,
      coalesce(v_held.started_at, v_now), (select o.ended_at from pgjobs.outcomes as o where o.task_id = v_id),
      v_held.worker_id, null::text, pgjobs._shown_payload(v_held.payload, (select c.show_secrets from pgjobs.settings as c)),
      update_task.result, null::integer;
    return;
  end if;
  perform pgjobs._update_task_locked(
    v_id, update_task.task_uuid, update_task.status, update_task.error, update_task.result, update_task.token,
    update_task.actor, update_task.is_superuser
  );
  return query select a.* from pgjobs.task_answer as a where a.id = v_id;
end
$$;

comment on function pgjobs.update_task is
  'Changes a task''s status. Example: select status from pgjobs.update_task(pgjobs.task_uuid(42), ''cancelled'', actor => ''ada'')';
