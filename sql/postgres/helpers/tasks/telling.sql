-- What becomes of tasks, told to whoever asked. Verbs know whether anybody did, and call these;
-- a trigger that looks at the rows of every statement would cost a task more than writing it.

create function pgjobs._tell_submitted(task_ids bigint[])
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.events (at, kind, task_id, job_id, room, status)
  select t.created_at, 'submitted', t.id, t.job_id, t.room, 'pending'
  from unnest(_tell_submitted.task_ids) as i (id)
  join pgjobs.tasks as t on t.id = i.id
  join pgjobs.jobs as j on j.id = t.job_id and j.events = 'full';
end
$$;

comment on function pgjobs._tell_submitted is
  'Records submitted tasks of jobs that ask for full events. Example: see pgjobs.submit_tasks, which calls it';

-- Tasks that are in the queue again: due after a delay or put back, or given back.
create function pgjobs._tell_returned(task_ids bigint[], kind text)
returns void
language plpgsql volatile
as $$
begin
  if not exists (select from pgjobs.jobs as j where j.events = 'full') then
    return;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status)
  select pgjobs._now(), _tell_returned.kind, t.id, t.job_id, t.room, 'pending'
  from unnest(_tell_returned.task_ids) as i (id)
  join pgjobs.tasks as t on t.id = i.id
  join pgjobs.jobs as j on j.id = t.job_id and j.events = 'full';
end
$$;

comment on function pgjobs._tell_returned is
  'Records tasks that are in the queue again. Example: see pgjobs.release_tasks, which gives them back';

create function pgjobs._tell_claimed(task_ids bigint[])
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id)
  select
    l.claimed_at, case when l.started_at is null then 'claimed' else 'started' end, l.task_id, l.job_id, t.room,
    case when l.started_at is null then 'claimed' else 'running' end, l.worker_id
  from unnest(_tell_claimed.task_ids) as i (id)
  join pgjobs.leases as l on l.task_id = i.id
  join pgjobs.tasks as t on t.id = i.id;
end
$$;

comment on function pgjobs._tell_claimed is
  'Records new leases of a job that asks for full events. Example: see pgjobs.claim_tasks, which calls it';

-- Whoever writes outcomes calls this in a statement that follows, or a child would be lost that
-- was submitted meanwhile. Named tasks without an outcome are passed by.
create function pgjobs._announce_endings(task_ids bigint[])
returns void
language plpgsql volatile
as $$
begin
  if cardinality(_announce_endings.task_ids) > 0 is not true then
    return;
  end if;
  insert into pgjobs.uncounted (job_id, measure, at, task_ids, claimed_at, due_at)
  select o.job_id, o.status, max(o.ended_at), array_agg(o.task_id), array_agg(o.claimed_at), array_agg(o.due_at)
  from unnest(_announce_endings.task_ids) as i (id)
  join pgjobs.outcomes as o on o.task_id = i.id
  group by o.job_id, o.status;
  perform pgjobs._tell_ended(_announce_endings.task_ids);
end
$$;

comment on function pgjobs._announce_endings is
  'Notes endings for the rollups and tells whom they concern. Example: see pgjobs.cancel_tasks, which calls it';

-- Failures and cancellations are always recorded; whoever watches a task is told, and workers
-- that wait for a slot. complete_tasks notes for the rollups what it ends, and calls this only
-- where somebody may ask.
create function pgjobs._tell_ended(task_ids bigint[])
returns void
language plpgsql volatile
as $$
declare
  v_task bigint;
begin
  perform pgjobs._wake(j.id, count(*))
  from unnest(_tell_ended.task_ids) as i (id)
  join pgjobs.outcomes as o on o.task_id = i.id
  join pgjobs.jobs as j on j.id = o.job_id and j.max_running is not null
  group by j.id;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id, actor, message)
  select
    o.ended_at, o.status, o.task_id, o.job_id, t.room, o.status, o.worker_id, o.actor,
    left(coalesce(o.error, o.reason), 500)
  from unnest(_tell_ended.task_ids) as i (id)
  join pgjobs.outcomes as o on o.task_id = i.id
  join pgjobs.jobs as j on j.id = o.job_id and (j.events = 'full' or o.status <> 'completed')
  join pgjobs.tasks as t on t.id = o.task_id;
  if pgjobs._are_tasks_watched() then
    for v_task in
      delete from pgjobs.watched as w
      using pgjobs.outcomes as o
      where w.task_id = any (_tell_ended.task_ids) and o.task_id = w.task_id
      returning w.task_id
    loop
      perform pg_notify('pgjobs.ended', v_task::text);
    end loop;
  end if;
  if pgjobs._are_dependencies_used() then
    for v_task in
      with noted as (
        insert into pgjobs.settled (after_id)
        select o.task_id
        from unnest(_tell_ended.task_ids) as i (id)
        join pgjobs.outcomes as o on o.task_id = i.id
        where pgjobs._has_dependents(o.task_id, o.status <> 'completed')
        returning after_id
      )
      select d.after_id from noted as d
    loop
      perform pgjobs._wake_for_dependents(v_task);
    end loop;
  end if;
end
$$;

comment on function pgjobs._tell_ended is
  'Tells whom endings concern. Example: see pgjobs.complete_tasks, which asks first whether anybody wants to know';

-- Reading a sequence costs the same however many dead marks there are.
create function pgjobs._are_tasks_watched()
returns boolean
language sql volatile
return coalesce(pg_sequence_last_value('pgjobs.watched_until'::regclass) >= extract(epoch from clock_timestamp()), false);

comment on function pgjobs._are_tasks_watched is 'Whether anybody waits for the end of a task. Example: select pgjobs._are_tasks_watched()';
