-- Gives every run that ended without completing, long enough ago, its one
-- cleanup task, a bounded batch at a time. Runs that have one are left alone,
-- however it stands. A run that was never told its target is taken to have
-- written where its job's runs write now. `after` stands in for the setting
-- this once, zero is right away; `of_job` leaves the runs of other jobs alone.
create function pgjobs.reconcile_cleanups(
  batch integer default 200, after interval default null, of_job text default null
)
returns table (created integer)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_after interval := coalesce(reconcile_cleanups.after, (select nullif(s.cleanup_after, interval '0') from pgjobs.settings as s));
  v_runs jsonb;
  v_job integer;
  v_node record;
begin
  if reconcile_cleanups.batch is null or reconcile_cleanups.batch not between 1 and 1000 then
    perform pgjobs._refuse('validation-error', 'batch must be between 1 and 1000');
  end if;
  if reconcile_cleanups.after < interval '0' then
    perform pgjobs._refuse('validation-error', 'after must not be negative');
  end if;
  created := 0;
  v_runs := case when v_after >= interval '0' then (
    select jsonb_agg(jsonb_build_object('id', u.task_id, 'job', u.job_id, 'payload', u.payload))
    from (
      select o.task_id, o.job_id, jsonb_build_object(
        'run_id', pgjobs.task_uuid(o.task_id), 'job_id', j.uuid, 'job_name', j.full_name,
        'node_id', coalesce(s.node_id, g.node_id), 'target', coalesce(s.target, g.target)
      ) as payload
      from pgjobs.targets as g
      join pgjobs.jobs as j on j.id = g.job_id
      join pgjobs.outcomes as o on o.status <> 'completed' and o.job_id = g.job_id
      left join pgjobs.run_targets as s on s.task_id = o.task_id
      where (reconcile_cleanups.of_job is null or reconcile_cleanups.of_job in (j.full_name, j.uuid::text))
        and o.ended_at <= v_now - v_after and s.cleanup_id is null and coalesce(s.target, g.target) is not null
      order by o.ended_at, o.task_id
      limit reconcile_cleanups.batch
    ) as u
  ) end;
  if v_runs is null then
    return next;
    return;
  end if;
  v_job := pgjobs._ensure_cleanup_job();
  -- Whoever comes second has nothing to do; an archived job takes no tasks.
  perform from pgjobs.jobs as j where j.id = v_job and j.archived_at is null for no key update skip locked;
  if not found then
    return next;
    return;
  end if;
  for v_node in
    select
      r.run -> 'payload' ->> 'node_id' as name,
      -- Whose tasks a cleaner without a node's name claims.
      case when pgjobs._hub_cleans(r.run -> 'payload' ->> 'node_id', r.run -> 'payload' -> 'target') then 'hub' end as owner,
      array_agg((r.run ->> 'id')::bigint order by r.place) as runs,
      array_agg((r.run ->> 'id') order by r.place) as keys,
      array_agg((r.run ->> 'job')::integer order by r.place) as jobs,
      array_agg(r.run -> 'payload' order by r.place) as payloads
    from jsonb_array_elements(v_runs) with ordinality as r (run, place)
    group by 1, 2
    order by 1, 2
  loop
    with submitted as (
      select s.task_id, s.is_new, s.place
      from pgjobs.submit_tasks(
        v_job::text, v_node.payloads, idempotency_keys => v_node.keys, submitter => 'maintenance', owner => v_node.owner,
        project => v_node.name
      ) with ordinality as s (task_id, is_new, place)
    ), linked as (
      insert into pgjobs.run_targets (task_id, job_id, node_id, target, taken_at, cleanup_id)
      select v_node.runs[s.place], v_node.jobs[s.place], v_node.name, v_node.payloads[s.place] -> 'target', v_now, s.task_id
      from submitted as s
      on conflict (task_id) do update set cleanup_id = excluded.cleanup_id
    )
    select created + count(*) filter (where s.is_new) into created from submitted as s;
  end loop;
  return next;
end
$$;

comment on function pgjobs.reconcile_cleanups is
  'Finds runs to clean up after. Example: select * from pgjobs.reconcile_cleanups()';
