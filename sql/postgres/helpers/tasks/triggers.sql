create function pgjobs._refuse_direct_change()
returns trigger
language plpgsql
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._refuse('direct-change', format('%s on %s is refused (%s)', tg_op, tg_table_name, tg_name),
    'Rows are changed by verbs only, and some never.', 'select * from pgjobs.help()');
  return null;
end
$$;

comment on function pgjobs._refuse_direct_change is 'Trigger: refuses changes that no verb makes. Example: update pgjobs.tasks set priority = 1';

create function pgjobs._refuse_strangers()
returns trigger
language plpgsql
as $$
begin
  if current_setting('search_path') <> 'pg_catalog, pgjobs, pg_temp' then
    perform pgjobs._refuse('direct-change', format('%s on %s is refused (%s)', tg_op, tg_table_name, tg_name),
      'Rows are changed by verbs only, and some never.', 'select * from pgjobs.help()');
  end if;
  return null;
end
$$;

comment on function pgjobs._refuse_strangers is 'Trigger: refuses statements that no verb makes. Example: delete from pgjobs.tasks';

create function pgjobs._announce_scheduled()
returns trigger
language plpgsql
as $$
begin
  if not exists (select from new_rows as n where n.error is not null) then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, message, fields)
  select
    pgjobs._now(), 'retrying', n.task_id, n.job_id, t.room, 'pending', left(n.error, 500),
    jsonb_build_object('attempt', n.attempt, 'run_at', n.run_at, 'error_kind', n.error_kind)
  from new_rows as n
  join pgjobs.tasks as t on t.id = n.task_id
  where n.error is not null;
  return null;
end
$$;

comment on function pgjobs._announce_scheduled is 'Trigger: records failed attempts that will be retried. Example: fires on insert into pgjobs.scheduled';

create function pgjobs._announce_started()
returns trigger
language plpgsql
as $$
begin
  if not exists (select from pgjobs.jobs as j where j.events = 'full') then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id)
  select n.started_at, 'started', n.task_id, n.job_id, t.room, 'running', n.worker_id
  from new_rows as n
  join old_rows as o on o.task_id = n.task_id and o.started_at is null and n.started_at is not null
  join pgjobs.jobs as j on j.id = n.job_id and j.events = 'full'
  join pgjobs.tasks as t on t.id = n.task_id;
  return null;
end
$$;

comment on function pgjobs._announce_started is 'Trigger: records started tasks of jobs that ask for full events. Example: fires on update of pgjobs.leases';

-- Failures and cancellations are always recorded; whoever watches a task is told.
create function pgjobs._announce_ended()
returns trigger
language plpgsql
as $$
declare
  v_task bigint;
  v_is_told boolean;
  v_are_limited boolean;
  v_are_watched boolean;
  v_have_dependents boolean;
begin
  with counted as (
    insert into pgjobs.uncounted (job_id, measure, at, task_ids, claimed_at, due_at)
    select n.job_id, n.status, max(n.ended_at), array_agg(n.task_id), array_agg(n.claimed_at), array_agg(n.due_at)
    from new_rows as n
    group by n.job_id, n.status
    returning measure
  )
  select
    bool_or(c.measure <> 'completed') or exists (select from pgjobs.jobs as j where j.events = 'full'),
    exists (select from pgjobs.jobs as j where j.max_running is not null),
    -- Reading the sequence costs the same however many dead marks there are.
    (select s.last_value from pgjobs.watched_until as s) >= extract(epoch from clock_timestamp()),
    (select u.last_value from pgjobs.dependencies_used as u) > 0
  into v_is_told, v_are_limited, v_are_watched, v_have_dependents
  from counted as c;
  if v_are_limited then
    -- Slots came free.
    perform pgjobs._wake(n.job_id, count(*))
    from new_rows as n
    join pgjobs.jobs as j on j.id = n.job_id and j.max_running is not null
    group by n.job_id;
  end if;
  if v_is_told then
    insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id, actor, message)
    select
      n.ended_at, n.status, n.task_id, n.job_id, t.room, n.status, n.worker_id, n.actor,
      left(coalesce(n.error, n.reason), 500)
    from new_rows as n
    join pgjobs.jobs as j on j.id = n.job_id and (j.events = 'full' or n.status <> 'completed')
    join pgjobs.tasks as t on t.id = n.task_id;
  end if;
  if v_are_watched then
    for v_task in
      delete from pgjobs.watched as w using new_rows as n where w.task_id = n.task_id returning w.task_id
    loop
      perform pg_notify('pgjobs.ended', v_task::text);
    end loop;
  end if;
  -- A statement after the one that wrote the outcomes, or a child would be lost that was submitted meanwhile.
  if v_have_dependents then
    for v_task in
      with noted as (
        insert into pgjobs.settled (after_id)
        select n.task_id
        from new_rows as n
        where pgjobs._has_dependents(n.task_id, n.status <> 'completed')
        returning after_id
      )
      select d.after_id from noted as d
    loop
      perform pgjobs._wake_for_dependents(v_task);
    end loop;
  end if;
  return null;
end
$$;

comment on function pgjobs._announce_ended is 'Trigger: records endings, wakes watchers and workers that wait for a slot, and notes them for the rollups. Example: fires on insert into pgjobs.outcomes';
