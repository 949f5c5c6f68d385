-- why(task_id bigint = null, task_uuid uuid = null)
--
-- Why a task is where it is: checks in order, one row each, ok or not, in words.
-- The first that is not ok is the reason; `advice` is what would change it.
select coalesce(:task_id, task_id(:task_uuid, (select s.task_key from secrets as s))) as v_task;
-- include served_jobs
select
  count(*) as v_workers,
  max(w.last_heartbeat_at) as v_heard_at,
  coalesce(max(w.last_heartbeat_at) >= now() - (select s.worker_timeout from settings as s), false) as v_is_alive
from tasks as t
cross join worker_jobs as l on l.job_id = t.job_id
cross join workers as w on w.id = l.worker_id
where t.id = :v_task;
select
  t.job_id in (select h.value from json_each(:v_with_holders) as h) as v_has_holders,
  (select a.queue_position - 1 from task_answer as a where a.id = t.id) as v_ahead,
  coalesce(t.holder, w.name, t.worker_id) as v_holder,
  coalesce(w.last_heartbeat_at < now() - (select s.worker_timeout from settings as s), false) as v_is_silent,
  t.worker_id is not null and w.id is null as v_is_left,
  w.last_heartbeat_at as v_holder_heard_at,
  (
    select e.at from events as e where e.task_id = t.id and e.kind = 'ignored' order by e.id desc limit 1
  ) as v_ignored_at
from tasks as t
left join workers as w on w.id = t.worker_id
where t.id = :v_task;
with one as (
  select
    t.*, j.full_name as job, j.archived_at, j.deleted_at, j.paused_at, j.max_running,
    (select count(*) from tasks as h where h.status in ('claimed', 'running') and h.job_id = t.job_id) as held,
    first_line(t.error) as short_error,
    t.status in ('claimed', 'running') as is_held, t.status = 'pending' as is_pending,
    short_duration(abs(now() - t.due_at) / 1e6) as due_ago,
    coalesce(t.until <= now(), false) as is_lapsed
  from tasks as t
  cross join jobs as j on j.id = t.job_id
  where t.id = :v_task
), checks (place, checked, is_ok, answer, advice) as (
  select
    1, 'exists', (select count(*) from one) = 1,
    coalesce(
      (
        select
          'Task ' || (select v.uuid from task as v where v.id = o.id) || ' of ' || o.job || ' was submitted '
          || short_duration((now() - o.created_at) / 1e6) || ' ago from ' || o.room || '.'
        from one as o
      ),
      'There is no task ' || coalesce(:task_id, :task_uuid, '') || ': it never was, or retention removed it.'
    ),
    null
  union all
  select
    2, 'ended', o.ended_at is null,
    iif(
      o.ended_at is null, 'It has not ended.',
      'It ' || iif(o.status = 'cancelled', 'was cancelled', o.status) || ' ' || short_duration((now() - o.ended_at) / 1e6)
      || ' ago' || coalesce(': ' || coalesce(o.short_error, o.reason), '') || '.'
    ),
    iif(o.status in ('failed', 'cancelled'), 'retry_task(' || o.id || ')', null)
  from one as o
  union all
  select
    3, 'ignored', o.status <> 'ignored',
    iif(
      o.status <> 'ignored', 'Nobody put it aside.',
      coalesce(o.actor, 'Somebody') || ' put it aside'
      || coalesce(' ' || short_duration((now() - :v_ignored_at) / 1e6) || ' ago', '') || coalesce(': ' || o.reason, '') || '.'
    ),
    iif(o.status = 'ignored', 'unignore_task(' || o.id || ')', null)
  from one as o
  where o.ended_at is null
  union all
  select
    4, 'cancellation', o.cancel_requested_at is null,
    iif(
      o.cancel_requested_at is null, 'Nobody asked to cancel it.',
      :v_holder || ' was asked to stop ' || short_duration((now() - o.cancel_requested_at) / 1e6) || ' ago'
      || coalesce(': ' || o.reason, '') || '.'
    ),
    iif(o.cancel_requested_at is null, null, 'cancel_task(' || o.id || ', force)')
  from one as o
  where o.is_held
  union all
  select
    5, 'lease', false,
    case
      when o.is_lapsed
        then 'The lease of ' || :v_holder || ' lapsed ' || short_duration((now() - o.until) / 1e6)
          || ' ago; the next sweep ends it.'
      when :v_is_left then 'Worker ' || :v_holder || ' is gone; the next sweep ends its lease.'
      when :v_is_silent
        then :v_holder || ' holds it and has been silent for ' || short_duration((now() - :v_holder_heard_at) / 1e6) || '.'
      else
        :v_holder || iif(o.started_at is null, ' has held it for ', ' has worked on it for ')
        || short_duration((now() - coalesce(o.started_at, o.claimed_at)) / 1e6) || ', attempt ' || o.attempt || ' of '
        || o.max_attempts || ', '
        || coalesce('leased for ' || short_duration((o.until - now()) / 1e6), 'as long as its heartbeats come') || '.'
    end,
    iif(o.is_lapsed or :v_is_left or :v_is_silent, 'sweep()', null)
  from one as o
  where o.is_held
  union all
  select
    4, 'due', o.due_at <= now(),
    case
      when o.due_at <= now() then 'It has been due for ' || o.due_ago || '.'
      when o.error is not null
        then 'Attempt ' || o.attempt || ' of ' || o.max_attempts || ' failed (' || o.short_error
          || '); the next is due in ' || o.due_ago || '.'
      else 'It is due in ' || o.due_ago || '.'
    end,
    'retry_task(' || o.id || ')'
  from one as o
  where o.is_pending
  union all
  select
    5, 'archived', o.archived_at is null and o.deleted_at is null,
    case
      when o.archived_at is not null
        then 'Job ' || o.job || ' was archived ' || short_duration((now() - o.archived_at) / 1e6) || ' ago.'
      when o.deleted_at is not null
        then 'Job ' || o.job || ' was retired ' || short_duration((now() - o.deleted_at) / 1e6) || ' ago.'
      else 'Its job is not archived.'
    end,
    iif(o.archived_at is not null, 'unarchive_job(' || quote(o.job) || ')', 'sweep(''workers'')')
  from one as o
  where o.is_pending
  union all
  select
    6, 'paused', o.paused_at is null,
    iif(
      o.paused_at is null, 'Its job is not paused.',
      'Job ' || o.job || ' was paused ' || short_duration((now() - o.paused_at) / 1e6) || ' ago.'
    ),
    'resume_job(' || quote(o.job) || ')'
  from one as o
  where o.is_pending
  union all
  select
    7, 'limit', o.max_running is null or o.held < o.max_running,
    iif(
      o.max_running is null, 'Its job has no limit.',
      o.held || ' of at most ' || o.max_running || ' of its job ' || iif(o.held = 1, 'is', 'are') || ' claimed or running.'
    ),
    'limit_job(' || quote(o.job) || ', ' || (o.max_running * 2) || ')'
  from one as o
  where o.is_pending
  union all
  select
    8, 'workers', :v_workers > 0 or :v_has_holders,
    case
      when :v_workers = 1 then 'One worker is registered for its job.'
      when :v_workers > 1 then :v_workers || ' workers are registered for its job.'
      when :v_has_holders then 'No worker is registered for its job, but others claim from it.'
      else 'No worker is registered for job ' || o.job || '.'
    end,
    'Start a worker that serves it'
  from one as o
  where o.is_pending
  union all
  select
    9, 'heartbeats', :v_is_alive or :v_has_holders or :v_workers = 0,
    case
      when :v_is_alive then 'The last heartbeat came ' || short_duration((now() - :v_heard_at) / 1e6) || ' ago.'
      when :v_workers = 0 or :v_has_holders then 'Nobody owes a heartbeat.'
      else
        'All its workers are silent; the last heartbeat came ' || short_duration((now() - :v_heard_at) / 1e6) || ' ago.'
    end,
    'workers_status()'
  from one as o
  where o.is_pending
  union all
  select
    10, 'line', :v_ahead = 0,
    case
      when :v_ahead = 0 then 'It is the next of its job.'
      when :v_ahead = 1 then 'One task of its job comes before it.'
      else :v_ahead || iif(:v_ahead >= 999, ' tasks or more', ' tasks') || ' of its job come before it.'
    end,
    'waiting()'
  from one as o
  where o.is_pending
)
select
  row_number() over (order by c.place) as step,
  c.checked,
  c.is_ok,
  c.answer,
  iif(c.is_ok, null, c.advice) as advice
from checks as c
order by step;
