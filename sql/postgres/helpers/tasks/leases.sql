-- Locks the leases an acknowledgement speaks of, those of them that still hold
-- and, when a holder is named, are that holder's.
--
-- Locked in order of task so that two overlapping batches cannot deadlock, and
-- in a statement of its own: the caller's next statement then sees the versions
-- that were locked.
create function pgjobs._lock_leases(task_ids bigint[], tokens uuid[], now timestamptz, holder text default null)
returns tid[]
language plpgsql volatile
as $$
begin
  return array(
    select l.ctid
    from unnest(_lock_leases.task_ids, _lock_leases.tokens) as i (task_id, token)
    join pgjobs.leases as l on l.task_id = i.task_id and l.token = i.token
    where (l.until is null or l.until > _lock_leases.now)
      and (_lock_leases.holder is null or coalesce(l.holder, l.worker_id::text) = _lock_leases.holder)
    order by l.task_id
    for update of l
  );
end
$$;

comment on function pgjobs._lock_leases is
  'Locks current leases for an acknowledgement. Example: select pgjobs._lock_leases(array[1], array[gen_random_uuid()], pgjobs._now())';

-- How long to wait before the next attempt. Jitter depends on the task and the
-- attempt alone, so that it can be predicted.
create function pgjobs._backoff(
  task_id bigint, attempt integer, base interval, cap interval, jitter_share real, jitter_cap interval
)
returns interval
language plpgsql immutable
as $$
declare
  v_seconds double precision := least(
    extract(epoch from base) * 2.0 ^ least(attempt - 1, 60), extract(epoch from cap),
    -- A thousand years: what is added to the present must stay a time.
    31557600000
  );
  v_luck double precision := (hashint8extended(task_id, attempt) & 1048575) / 1048576.0;
begin
  return make_interval(secs => v_seconds + least(
    v_seconds * jitter_share * v_luck, coalesce(extract(epoch from jitter_cap) * v_luck, 'infinity')
  ));
end
$$;

comment on function pgjobs._backoff is
  'Delay after a failed attempt. Example: select pgjobs._backoff(1, 3, ''1 s'', ''1 h'', 0.25, null)';

-- How many attempts of a task in a row an outage has ended, if one more costs nothing; null
-- once there were as many as may be. Any other end of an attempt begins the count anew.
create function pgjobs._outages_in_a_row(task_id bigint)
returns integer
language plpgsql stable
as $$
declare
  v_most integer := (select s.max_outages from pgjobs.settings as s);
  v_count integer;
begin
  with recent as materialized (
    select a.id, a.error_kind
    from pgjobs.attempts as a
    where a.task_id = _outages_in_a_row.task_id
    order by a.id desc
    limit v_most
  )
  select count(*) into v_count
  from recent as r
  where r.id > coalesce((select max(o.id) from recent as o where o.error_kind is distinct from 'outage'), 0);
  return case when v_count < v_most then v_count end;
end
$$;

comment on function pgjobs._outages_in_a_row is
  'How many outages in a row a task has seen, null when there were too many. Example: select pgjobs._outages_in_a_row(42)';

-- Ends attempts without success: retries what may be retried, fails or cancels
-- the rest. The leases must be locked. Arrays go by position with `tokens`; one
-- of a single entry counts for all.
--
-- An outage (kind `outage`) is not the task's fault: it is noted and waited for, and uses
-- up no attempt, as long as there were not too many in a row. One that ended in the same way
-- too often is quarantined. With `again_in` that is how long retries wait.
create function pgjobs._end_attempts(
  held tid[], tokens uuid[], errors text[], kinds text[], retryable boolean[], now timestamptz,
  again_in interval default null, same_error integer default null
)
returns table (task_id bigint, status text, run_at timestamptz)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_tasks bigint[];
  v_limited integer[];
  v_aside bigint[] := '{}';
begin
  select array_agg(l.task_id), array_agg(l.job_id) filter (where l.is_limited) into v_tasks, v_limited
  from pgjobs.leases as l where l.ctid = any (_end_attempts.held);
  if _end_attempts.kinds is not null and pgjobs._may_be_poison(_end_attempts.kinds[1], _end_attempts.same_error) then
    v_aside := pgjobs._poisoned(_end_attempts.held, _end_attempts.tokens, _end_attempts.kinds, _end_attempts.same_error);
  end if;
  return query
  with gone as (
    delete from pgjobs.leases as l where l.ctid = any (_end_attempts.held) returning l.*
  ), judged as (
    select
      g.*,
      t.priority,
      pgjobs._redact(coalesce(_end_attempts.errors[g.place], 'unknown error')) as error,
      left(_end_attempts.kinds[g.place], 200) as kind,
      case
        when g.cancel_requested_at is not null then 'cancelled'
        when coalesce(_end_attempts.retryable[g.place], true)
          and coalesce(p.is_retryable, true)
          and (g.attempt < t.max_attempts or g.outages is not null)
          and (j.max_age is null or t.created_at > _end_attempts.now - j.max_age)
          then case when g.task_id = any (v_aside) then 'ignored' else 'pending' end
        else 'failed'
      end as verdict,
      _end_attempts.now + case
        when _end_attempts.again_in is not null then _end_attempts.again_in
        when p.kind is null and g.outages is not null
          then pgjobs._backoff(g.task_id, g.outages + 1, '1 second', '1 minute', 0.25, null)
        when p.kind is null then pgjobs._backoff(g.task_id, g.attempt, j.backoff_base, j.backoff_cap, j.jitter_share, j.jitter_cap)
        else pgjobs._backoff(g.task_id, g.attempt, p.backoff_base, p.backoff_cap, p.jitter_share, p.jitter_cap)
      end as again_at
    from (
      select
        l.*,
        case
          when _end_attempts.kinds[l.place] = 'outage' and coalesce(_end_attempts.retryable[l.place], true)
            then pgjobs._outages_in_a_row(l.task_id)
        end as outages
      from (
        select
          h.*,
          case when cardinality(_end_attempts.errors) > 1 then array_position(_end_attempts.tokens, h.token) else 1 end as place
        from gone as h
      ) as l
    ) as g
    join pgjobs.tasks as t on t.id = g.task_id
    join pgjobs.jobs as j on j.id = g.job_id
    left join pgjobs.error_policies as p on p.job_id = g.job_id and p.kind = _end_attempts.kinds[g.place]
  ), kept as (
    insert into pgjobs.attempts (
      task_id, attempt, status, token, worker_id, holder, due_at, claimed_at, started_at, ended_at, error, error_kind
    )
    select
      task_id, attempt, 'failed', token, worker_id, holder, due_at, claimed_at, started_at, _end_attempts.now, error, kind
    from judged
    where verdict in ('pending', 'ignored')
  ), progressed as (
    insert into pgjobs.kept_progress as k (task_id, progress)
    select task_id, progress from judged where verdict in ('pending', 'ignored') and progress is not null
    on conflict (task_id) do update set progress = excluded.progress
  ), later as (
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority, attempt, error, error_kind, key)
    select
      task_id, again_at, job_id, priority, attempt - case when outages is null then 0 else 1 end, error, kind, key
    from judged
    where verdict = 'pending'
  ), aside as (
    insert into pgjobs.ignored (task_id, job_id, attempt, ignored_at, reason, is_quarantined)
    select
      task_id, job_id, attempt, _end_attempts.now,
      pgjobs._why_poison(kind), true
    from judged
    where verdict = 'ignored'
  ), ended as (
    insert into pgjobs.outcomes (
      task_id, job_id, status, attempt, token, worker_id, holder, due_at, claimed_at, started_at, ended_at,
      error, error_kind, reason
    )
    select
      task_id, job_id, verdict, attempt, token, worker_id, holder, due_at, claimed_at, started_at, _end_attempts.now,
      case when verdict = 'failed' then error end, case when verdict = 'failed' then kind end, cancel_reason
    from judged
    where verdict in ('failed', 'cancelled')
  )
  select j.task_id, j.verdict, case when j.verdict = 'pending' then j.again_at end from judged as j;
  perform pgjobs._announce_endings(v_tasks);
  if v_aside <> '{}' then
    perform pgjobs._tell_quarantined(v_aside, _end_attempts.now);
  end if;
  if v_limited <> '{}' then
    perform pgjobs._wake_for_slots(v_limited);
  end if;
end
$$;

comment on function pgjobs._end_attempts is
  'Ends locked leases without success. Example: see pgjobs.fail_tasks, which locks them first';

-- Why an acknowledgement found no lease: the task does not exist, or its lease is lost.
create function pgjobs._lost_or_unknown(task_id bigint)
returns text
language sql stable
return case
  when exists (
    select from pgjobs.tasks as t
    where t.id = task_id and (pgjobs._rooms() is null or t.room = any(pgjobs._rooms()))
  ) then 'PJ007'
  else 'PJ002'
end;

comment on function pgjobs._lost_or_unknown is
  'The problem of an acknowledgement without a lease. Example: select pgjobs._lost_or_unknown(42)';

-- Whether an attempt was failed by its holder, rather than taken from them.
create function pgjobs._is_own_failure(status text, error_kind text)
returns boolean
language sql immutable
return status = 'failed'
  and coalesce(error_kind, '') not in ('lease_expired', 'worker_disconnected', 'internal_timeout');

comment on function pgjobs._is_own_failure is
  'Whether an attempt was failed by its holder. Example: select pgjobs._is_own_failure(''failed'', ''network'')';
