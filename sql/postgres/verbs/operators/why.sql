-- Why a task that has ended or is ignored is not run.
create function pgjobs._why_over(task pgjobs.task, now timestamptz)
returns table (checked text, is_ok boolean, answer text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select
    'ended', task.ended_at is null,
    case
      when task.ended_at is null then 'It has not ended.'
      else format('It %s %s ago%s.',
        case task.status when 'cancelled' then 'was cancelled' else task.status end, pgjobs._ago(task.ended_at, now),
        coalesce(': ' || left(split_part(coalesce(task.error, task.reason), E'\n', 1), 200), ''))
    end,
    case when task.status in ('failed', 'cancelled') then format('select * from pgjobs.retry_task(%s)', task.id) end;
  if task.ended_at is null then
    return query
    select
      'ignored', task.status <> 'ignored',
      case
        when task.status = 'ignored' then (
          select format('%s ignored it %s ago%s.',
            coalesce(i.actor, 'Somebody'), pgjobs._ago(i.ignored_at, now), coalesce(': ' || i.reason, ''))
          from pgjobs.ignored as i where i.task_id = task.id
        )
        else 'It is not ignored.'
      end,
      case when task.status = 'ignored' then format('select * from pgjobs.unignore_task(%s)', task.id) end;
  end if;
end
$$;

comment on function pgjobs._why_over is 'Whether a task is over. Example: see pgjobs.why, which asks it first';

-- Why a task that somebody holds has not ended.
create function pgjobs._why_held(task pgjobs.task, now timestamptz)
returns table (checked text, is_ok boolean, answer text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_worker pgjobs.workers;
  v_holder text;
begin
  select w.* into v_worker from pgjobs.workers as w where w.id = task.worker_id;
  v_holder := coalesce(task.holder, v_worker.name, task.worker_id::text);
  return query
  select
    'cancellation', task.cancel_requested_at is null,
    case
      when task.cancel_requested_at is null then 'Cancellation was not requested.'
      else format('Cancellation was requested %s ago%s. %s stops at its next heartbeat.',
        pgjobs._ago(task.cancel_requested_at, now), coalesce(': ' || task.reason, ''), v_holder)
    end,
    case when task.cancel_requested_at is not null
      then format('select * from pgjobs.cancel_task(%s, force => true)', task.id) end;
  return query
  select
    'lease', false,
    case
      when task.until <= now then format('The lease of %s lapsed %s ago; the next sweep ends it.', v_holder, pgjobs._ago(task.until, now))
      when task.worker_id is not null and v_worker.id is null then format('Worker %s is gone; the next sweep ends its lease.', v_holder)
      when v_worker.last_heartbeat_at < now - (select s.worker_timeout from pgjobs.settings as s)
        then format('%s holds it and has been silent for %s.', v_holder, pgjobs._ago(v_worker.last_heartbeat_at, now))
      else format('%s %s it for %s, attempt %s of %s, %s.',
        v_holder, case when task.started_at is null then 'has held' else 'has worked on' end,
        pgjobs._ago(coalesce(task.started_at, task.claimed_at), now), task.attempt, task.max_attempts,
        coalesce('leased for ' || pgjobs._ago(task.until, now), 'as long as its heartbeats come'))
    end,
    case when task.until <= now or (task.worker_id is not null and coalesce(v_worker.last_heartbeat_at, '-infinity')
        < now - (select s.worker_timeout from pgjobs.settings as s))
      then 'select * from pgjobs.sweep()' end;
end
$$;

comment on function pgjobs._why_held is 'Who holds a task. Example: see pgjobs.why, which asks it second';

-- Why a pending task is not claimed: its time, its job, its workers, its place in line.
create function pgjobs._why_pending(task pgjobs.task, now timestamptz)
returns table (checked text, is_ok boolean, answer text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job pgjobs.jobs;
  v_workers bigint;
  v_last_heard timestamptz;
  v_is_alive boolean;
  v_has_holders boolean := task.job_id = any (pgjobs._jobs_with_holders(now));
  v_ahead integer := pgjobs._queue_position(task.id, task.job_id, task.priority) - 1;
  v_held bigint := pgjobs._held_slots(task.job_id);
  v_quoted text := quote_literal(task.job);
  v_node text := case when task.job_id = pgjobs._cleanup_job() then task.project end;
  v_cleaners bigint;
  v_wait_answer text;
  v_wait_advice text;
  v_key record := pgjobs._why_key(task.id, now);
begin
  if v_node is not null then
    v_cleaners := (
      select count(*)
      from pgjobs.tasks as t
      cross join lateral pgjobs._cleaners_of(v_node, t.payload -> 'target', now) as c
      where t.id = task.id
    );
  end if;
  select j.* into v_job from pgjobs.jobs as j where j.id = task.job_id;
  select count(*), max(w.last_heartbeat_at) into v_workers, v_last_heard
  from pgjobs.worker_jobs as l
  join pgjobs.workers as w on w.id = l.worker_id
  where l.job_id = task.job_id;
  if task.phase in ('sleeping', 'waiting', 'dependent', 'held') then
    select w.answer, w.advice into v_wait_answer, v_wait_advice from pgjobs._wait_in_words(task.id, _why_pending.now) as w;
  end if;
  v_is_alive := v_last_heard >= now - (select s.worker_timeout from pgjobs.settings as s);
  return query
  select c.checked, c.is_ok, c.answer, case when not c.is_ok then c.advice end
  from (values
    ('due', v_wait_answer is null and task.due_at <= now,
      case
        when v_wait_answer is not null then v_wait_answer
        when task.due_at <= now then format('It has been due for %s.', pgjobs._ago(task.due_at, now))
        when task.error_kind = 'outage' then format('An outage ended its last attempt and used none up (%s); the next is due in %s.',
          left(split_part(task.error, E'\n', 1), 200), pgjobs._ago(task.due_at, now))
        when task.error is not null then format('Attempt %s of %s failed (%s); the next is due in %s.', task.attempt,
          task.max_attempts, left(split_part(task.error, E'\n', 1), 200), pgjobs._ago(task.due_at, now))
        else format('It is due in %s.', pgjobs._ago(task.due_at, now))
      end,
      case when v_wait_answer is null then format('select * from pgjobs.retry_task(%s)', task.id) else v_wait_advice end),
    ('archived', v_job.archived_at is null and v_job.deleted_at is null,
      case
        when v_job.archived_at is not null then format('Job %s was archived %s ago.', task.job, pgjobs._ago(v_job.archived_at, now))
        when v_job.deleted_at is not null then format('Job %s was retired %s ago.', task.job, pgjobs._ago(v_job.deleted_at, now))
        else 'Its job is not archived.'
      end,
      case when v_job.archived_at is not null then format('select * from pgjobs.unarchive_job(%s)', v_quoted)
        else 'select * from pgjobs.sweep(''workers'')' end),
    ('paused', v_job.paused_at is null,
      case
        when v_job.paused_at is null then 'Its job is not paused.'
        else format('Job %s was paused %s ago%s.', task.job, pgjobs._ago(v_job.paused_at, now), coalesce(': ' || v_job.pause_reason, ''))
      end,
      format('select * from pgjobs.resume_job(%s)', v_quoted)),
    ('limit', v_job.max_running is null or v_held < v_job.max_running,
      case
        when v_job.max_running is null then 'Its job has no limit.'
        else format('%s of at most %s of its job %s claimed or running.', v_held, v_job.max_running,
          case when v_held = 1 then 'is' else 'are' end)
      end,
      format('select * from pgjobs.limit_job(%s, %s)', v_quoted, v_job.max_running * 2)),
    ('key', v_key.is_ok, v_key.answer, v_key.advice),
    ('workers', case when v_node is null then v_workers > 0 or v_has_holders else v_cleaners > 0 end,
      case
        when v_cleaners = 0 then format('No process cleans up for node %s.', v_node)
        when v_cleaners > 0 then format('%s for node %s.',
          case when v_cleaners = 1 then 'One process cleans up' else v_cleaners || ' processes clean up' end, v_node)
        when v_workers > 0 then format('%s registered for its job.',
          case when v_workers = 1 then 'One worker is' else v_workers || ' workers are' end)
        when v_has_holders then 'No worker is registered for its job, but others claim from it.'
        else format('No worker is registered for job %s.', task.job)
      end,
      case when v_node is null then 'Start a worker that serves it' else pgjobs._cleanup_command(v_node) end),
    ('heartbeats', v_is_alive or v_has_holders or v_workers = 0,
      case
        when v_is_alive then format('The last heartbeat came %s ago.', pgjobs._ago(v_last_heard, now))
        when v_workers = 0 or v_has_holders then 'No worker is late with a heartbeat.'
        else format('All its workers are silent; the last heartbeat came %s ago.', pgjobs._ago(v_last_heard, now))
      end,
      'select * from pgjobs.workers_status'),
    ('line', v_ahead = 0,
      case
        when v_ahead = 0 then 'It is next in its job''s queue.'
        when v_ahead >= pgjobs._last_counted_place() - 1 then format('%s tasks or more of its job come before it.', v_ahead)
        when v_ahead = 1 then 'One task of its job comes before it.'
        else format('%s tasks of its job come before it.', v_ahead)
      end,
      format('select * from pgjobs.waiting where job = %s', v_quoted))
  ) as c (checked, is_ok, answer, advice)
  -- What waits for something else has no place in line. How many of a shared job's tasks run and wait is about everybody's.
  where (c.checked <> 'line' or v_wait_answer is null) and (c.checked <> 'key' or v_job.is_shared) and (c.checked not in ('limit', 'key', 'line') or not pgjobs._is_closed(v_job.room));
end
$$;

comment on function pgjobs._why_pending is 'Why a pending task is not claimed. Example: see pgjobs.why, which asks it last';

-- Why a task is where it is: checks in order, one row each, ok or not, in words.
-- The first that is not ok is the reason; `advice` is what would change it.
create function pgjobs.why(task_id bigint default null, task_uuid uuid default null)
returns table (step integer, checked text, is_ok boolean, answer text, advice text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_id bigint := coalesce(why.task_id, pgjobs.task_id(why.task_uuid));
  v_rooms text[] := pgjobs._rooms();
  v_task pgjobs.task;
begin
  select t.* into v_task from pgjobs.task as t where t.id = v_id and (v_rooms is null or t.room = any (v_rooms));
  return query
  select
    1, 'exists', v_task.id is not null,
    case
      when v_task.id is null then format('Task %s does not exist: it was never submitted, or retention removed it.',
        coalesce(why.task_id::text, why.task_uuid::text, ''))
      else format('Task %s of %s was submitted %s ago from %s.',
        v_task.uuid, v_task.job, pgjobs._ago(v_task.created_at, v_now), v_task.room)
    end,
    null::text;
  if v_task.id is null then
    return;
  end if;
  return query
  select (c.place + 1)::integer, c.checked, c.is_ok, c.answer, c.advice
  from (
    select o.checked, o.is_ok, o.answer, o.advice, o.place
    from pgjobs._why_over(v_task, v_now) with ordinality as o (checked, is_ok, answer, advice, place)
    union all
    select h.checked, h.is_ok, h.answer, h.advice, 2 + h.place
    from pgjobs._why_held(v_task, v_now) with ordinality as h (checked, is_ok, answer, advice, place)
    where v_task.status in ('claimed', 'running')
    union all
    select p.checked, p.is_ok, p.answer, p.advice, 2 + p.place
    from pgjobs._why_pending(v_task, v_now) with ordinality as p (checked, is_ok, answer, advice, place)
    where v_task.status = 'pending'
  ) as c
  order by c.place;
end
$$;

comment on function pgjobs.why is
  'Why a task is where it is. Example: select checked, is_ok, answer, advice from pgjobs.why(42)';
