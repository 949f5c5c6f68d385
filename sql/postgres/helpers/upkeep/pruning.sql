-- Up to which task this session has pruned lately, null after an hour: what was
-- removed leaves dead entries behind, and looking through them again for every
-- batch makes each dearer than the one before (measured: 0.1 s became 1.1 s after
-- forty batches of a thousand).
create function pgjobs._pruned_upto(key text, now timestamptz)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_known text[] := string_to_array(nullif(current_setting(key, true), ''), '/');
begin
  return case
    when extract(epoch from now) - v_known[2]::double precision between 0 and 3600 then v_known[1]::bigint
  end;
end
$$;

comment on function pgjobs._pruned_upto is
  'Up to which task this session has pruned. Example: select pgjobs._pruned_upto(''pgjobs.pruned_x'', pgjobs._now())';

-- About the last task submitted before a moment. Numbers and times of submission
-- grow together, so it is searched for by halves: twenty probes among a million.
create function pgjobs._last_task_before(moment timestamptz)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_low bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id limit 1), 0) - 1;
  v_high bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id desc limit 1), 0);
  v_middle bigint;
begin
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low + 1) / 2;
    if (select t.created_at from pgjobs.tasks as t where t.id >= v_middle order by t.id limit 1) < moment then
      v_low := v_middle;
    else
      v_high := v_middle - 1;
    end if;
  end loop;
  return v_low;
end
$$;

comment on function pgjobs._last_task_before is
  'About the last task submitted before a moment. Example: select pgjobs._last_task_before(pgjobs._now() - interval ''30 days'')';

-- Nothing younger than this can go, whatever its job; null when everything is kept.
create function pgjobs._shortest_retention()
returns interval
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return (
    select min(r.keep)
    from pgjobs.settings as s
    cross join pgjobs.jobs as j
    cross join lateral (values
      (coalesce(j.retain_completed, s.retain_completed)), (coalesce(j.retain_failed, s.retain_failed))
    ) as r (keep)
    where r.keep > interval '0'
  );
end
$$;

comment on function pgjobs._shortest_retention is
  'The shortest time that any ended task is kept. Example: select pgjobs._shortest_retention()';

-- Ended tasks that are kept no longer, oldest first, locked; those that others hold
-- are passed by.
create function pgjobs._prunable_tasks(
  now timestamptz, after bigint, last bigint, of_status text, older_than interval, of_job integer,
  in_room text, in_category text, batch integer
)
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_settings pgjobs.settings;
  v_are_used boolean := pgjobs._are_dependencies_used();
begin
  select s.* into v_settings from pgjobs.settings as s;
  return array(
    select o.task_id
    from pgjobs.outcomes as o
    join pgjobs.jobs as j on j.id = o.job_id
    where o.task_id > _prunable_tasks.after and o.task_id <= _prunable_tasks.last
      and o.ended_at < _prunable_tasks.now - coalesce(_prunable_tasks.older_than, nullif(
        case o.status
          when 'completed' then coalesce(j.retain_completed, v_settings.retain_completed)
          else coalesce(j.retain_failed, v_settings.retain_failed)
        end, interval '0'))
      and o.status = coalesce(_prunable_tasks.of_status, o.status)
      and o.job_id = coalesce(_prunable_tasks.of_job, o.job_id)
      and j.room = coalesce(_prunable_tasks.in_room, j.room)
      and j.category = coalesce(_prunable_tasks.in_category, j.category)
      and (not v_are_used or not pgjobs._is_awaited(o.task_id))
    order by o.task_id
    limit _prunable_tasks.batch
    for update of o skip locked
  );
end
$$;

comment on function pgjobs._prunable_tasks is
  'Ended tasks that are kept no longer. Example: select pgjobs._prunable_tasks(pgjobs._now(), 0, 1000, null, ''30 days'', null, null, null, 100)';

-- Removes ended tasks, in order of number, with what hangs on them.
create function pgjobs._remove_ended(task_ids bigint[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_first bigint := _remove_ended.task_ids[1];
  v_last bigint := _remove_ended.task_ids[cardinality(_remove_ended.task_ids)];
  v_cleanup_job integer := pgjobs._cleanup_job();
begin
  delete from pgjobs.idempotency_keys as k
  using pgjobs.tasks as t
  where t.id = any (_remove_ended.task_ids)
    and t.idempotency_key is not null and k.job_id = t.job_id and k.key = t.idempotency_key;
  delete from pgjobs.events as e
  using pgjobs.tasks as t
  where t.id = any (_remove_ended.task_ids) and t.job_id = v_cleanup_job and e.task_id = t.id;
  delete from pgjobs.run_targets as r where r.task_id = any (_remove_ended.task_ids);
  delete from pgjobs.attempts as a where a.task_id = any (_remove_ended.task_ids);
  -- The range lets the partitions of other tasks be passed by.
  delete from pgjobs.outcomes as o
  where o.task_id = any (_remove_ended.task_ids) and o.task_id between v_first and v_last;
  perform pgjobs._forget_durable(_remove_ended.task_ids);
  delete from pgjobs.tasks as t where t.id = any (_remove_ended.task_ids);
end
$$;

comment on function pgjobs._remove_ended is
  'Removes ended tasks. Example: see pgjobs.prune_tasks, which chooses them';

-- Removes events that are kept no longer, a bounded batch. Found by their time alone:
-- the index over it knows which pages are old, and walking in order of transactions
-- would read everything that is kept for longer.
create function pgjobs._prune_events(before timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  -- The audit trail of a cleanup task goes with the task.
  v_cleanup_job integer := pgjobs._cleanup_job();
  v_removed integer;
begin
  delete from pgjobs.events as e
  using (
    select o.xid, o.id
    from pgjobs.events as o
    where o.at < _prune_events.before and o.job_id is distinct from v_cleanup_job
    limit _prune_events.batch
  ) as old
  where e.xid = old.xid and e.id = old.id;
  get diagnostics v_removed = row_count;
  return v_removed;
end
$$;

comment on function pgjobs._prune_events is
  'Removes events that are kept no longer. Example: select pgjobs._prune_events(pgjobs._now() - interval ''7 days'', 1000)';
