-- Finds a schedule by number, public id or address; refuses what does not exist.
-- Whoever is going to change it `locks` it, and it stays.
create function pgjobs._find_schedule(schedule text, locks boolean default false)
returns pgjobs.schedules
language plpgsql volatile
as $$
declare
  v_schedule pgjobs.schedules;
begin
  if _find_schedule.schedule ~ '^[0-9]{1,9}$' then
    select s.* into v_schedule from pgjobs.schedules as s where s.id = _find_schedule.schedule::integer;
  elsif _find_schedule.schedule ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then
    select s.* into v_schedule from pgjobs.schedules as s where s.uuid = _find_schedule.schedule::uuid;
  else
    select s.* into v_schedule from pgjobs.schedules as s where s.full_name = _find_schedule.schedule;
  end if;
  if locks then
    select s.* into v_schedule from pgjobs.schedules as s where s.id = v_schedule.id for no key update;
  end if;
  if v_schedule.id is null or pgjobs._is_closed(v_schedule.room) then
    perform pgjobs._refuse('schedule-not-found', format('Schedule %s does not exist', _find_schedule.schedule),
      null, 'Write room:name; select full_name from pgjobs.schedule lists them.');
  end if;
  return v_schedule;
end
$$;

comment on function pgjobs._find_schedule is
  'A schedule by number, public id or address. Example: select (pgjobs._find_schedule(''@global:nightly'')).id';

-- A zone that clocks are set by. Only names of places: Postgres would also read
-- "Moon/Base5" as a zone five hours behind. Small letters pass for capitals here, but not
-- elsewhere; to look whether it `is_exact` reads the files of all zones.
create function pgjobs._check_timezone(timezone text, is_exact boolean)
returns void
language plpgsql stable
as $$
begin
  if timezone ~ '^(UTC|Etc/GMT([+-][0-9]{1,2})?|[A-Z][A-Za-z_]+(/[A-Z][A-Za-z_-]*)+)$' then
    begin
      perform pgjobs._now() at time zone _check_timezone.timezone;
      if timezone = 'UTC' or not is_exact
        or exists (select from pg_timezone_names as z where z.name = _check_timezone.timezone)
      then
        return;
      end if;
    exception when invalid_parameter_value then
      null;
    end;
  end if;
  perform pgjobs._refuse('validation-error', format('There is no time zone %L', left(timezone, 200)),
    null, 'Write a place, such as Europe/Berlin, or UTC.');
end
$$;

comment on function pgjobs._check_timezone is 'Refuses what is no time zone. Example: select pgjobs._check_timezone(''Europe/Berlin'', true)';

-- Every reason to refuse a schedule, but for those to refuse its tasks.
create function pgjobs._check_schedule(
  name text, cron text, every interval, timezone text, missed text, is_preview boolean default false
)
returns void
language plpgsql stable
as $$
begin
  if name is null or name = '' or length(name) > 200 then
    perform pgjobs._refuse('validation-error', 'A schedule''s name has 1 to 200 characters');
  end if;
  if num_nonnulls(cron, every) <> 1 then
    perform pgjobs._refuse('validation-error', 'A schedule runs by cron or every so often: give one of both');
  end if;
  if length(cron) > 200 then
    perform pgjobs._refuse('validation-error', 'A cron expression has at most 200 characters');
  end if;
  if every not between interval '1 second' and interval '366 days' or (extract(year from every), extract(month from every)) <> (0, 0) then
    perform pgjobs._refuse('validation-error', 'every must be between a second and a year, in days, hours, minutes and seconds',
      format('Got %s.', every), 'For months, use cron: 0 0 1 * *');
  end if;
  if missed is null or missed not in ('once', 'skip', 'each') then
    perform pgjobs._refuse('validation-error', 'missed must be once, skip or each', format('Got %s.', missed));
  end if;
  perform pgjobs._check_timezone(timezone, is_exact => not is_preview);
  if pgjobs._next_run(cron, every, timezone, null, pgjobs._now()) is null then
    perform pgjobs._refuse('validation-error', format('%L never comes', cron), 'No day of the next fifty years fits.');
  end if;
end
$$;

comment on function pgjobs._check_schedule is
  'Refuses schedules that cannot be. Example: see pgjobs.register_schedule, which calls it first';

-- A task's status from the places it may be in; gone when it was removed.
create function pgjobs._status_of(task_id bigint)
returns text
language plpgsql stable
as $$
begin
  return coalesce(
    (select o.status from pgjobs.outcomes as o where o.task_id = _status_of.task_id),
    (
      select case when l.started_at is null then 'claimed' else 'running' end
      from pgjobs.leases as l
      where l.task_id = _status_of.task_id
    ),
    (select 'ignored' from pgjobs.ignored as i where i.task_id = _status_of.task_id),
    (select 'pending' from pgjobs.tasks as t where t.id = _status_of.task_id),
    'gone'
  );
end
$$;

comment on function pgjobs._status_of is 'A task''s status. Example: select pgjobs._status_of(42)';

-- Whether a task that a schedule has submitted has not ended yet.
create function pgjobs._is_under_way(task_id bigint)
returns boolean
language plpgsql stable
as $$
begin
  return pgjobs._status_of(_is_under_way.task_id) in ('pending', 'claimed', 'running');
end
$$;

comment on function pgjobs._is_under_way is 'Whether a task has not ended yet. Example: select pgjobs._is_under_way(42)';

-- Notes a run, and forgets those before the last fifty; not one under way that keeps
-- others from running.
create function pgjobs._note_run(
  schedule pgjobs.schedules, due_at timestamptz, task_id bigint, reason text, is_manual boolean
)
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.schedule_runs (schedule_id, due_at, task_id, reason, is_manual)
  values (schedule.id, _note_run.due_at, _note_run.task_id, left(_note_run.reason, 500), _note_run.is_manual);
  delete from pgjobs.schedule_runs as r
  where r.schedule_id = schedule.id
    and r.id <= (
      select o.id from pgjobs.schedule_runs as o where o.schedule_id = schedule.id order by o.id desc offset 50 limit 1
    )
    and (schedule.overlap or r.task_id is null or not pgjobs._is_under_way(r.task_id));
end
$$;

comment on function pgjobs._note_run is 'Notes a run of a schedule. Example: see pgjobs.fire_schedules, which calls it';

create function pgjobs._record_schedule(
  schedule pgjobs.schedules, kind text, actor text, message text, task_id bigint default null
)
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.events (at, kind, task_id, job_id, room, actor, message, fields)
  values (
    pgjobs._now(), _record_schedule.kind, _record_schedule.task_id, schedule.job_id, schedule.room, _record_schedule.actor,
    pgjobs._redact_line(_record_schedule.message),
    jsonb_build_object('schedule', schedule.full_name, 'schedule_id', schedule.uuid)
  );
end
$$;

comment on function pgjobs._record_schedule is
  'Records what happened to a schedule. Example: see pgjobs.pause_schedule, which calls it';

create function pgjobs._submit_run(schedule pgjobs.schedules, available_at timestamptz default null, key text default null)
returns bigint
language plpgsql volatile
as $$
begin
  return (
    select s.task_id
    from pgjobs.submit_tasks(
      job => schedule.job_id::text, payloads => array[schedule.payload], room => schedule.room, priority => schedule.priority,
      available_at => _submit_run.available_at, max_attempts => schedule.max_attempts,
      idempotency_keys => case when _submit_run.key is not null then array[_submit_run.key] end,
      submitter => left('schedule ' || schedule.full_name, 200), owner => schedule.owner, project => schedule.project,
      tags => schedule.tags
    ) as s
  );
end
$$;

comment on function pgjobs._submit_run is 'Submits the task of a run. Example: see pgjobs.run_schedule, which calls it';

-- Whether an error says nothing of the schedule it came up with: conflicts, shortages, shutdowns,
-- a server that only reads.
create function pgjobs._is_passing(problem text)
returns boolean
language plpgsql immutable
as $$
begin
  return left(problem, 2) in ('25', '40', '53', '55', '57', '58', 'XX');
end
$$;

comment on function pgjobs._is_passing is 'Whether an error passes by itself. Example: select pgjobs._is_passing(''40P01'')';

-- When a schedule that was due is due next; null, with the reason, if that cannot be told any
-- more: an upgrade of the system may take a time zone away.
create function pgjobs._settle_next_run(
  schedule pgjobs.schedules, now timestamptz, out next_run_at timestamptz, out trouble text
)
language plpgsql stable
as $$
begin
  next_run_at := pgjobs._next_run(
    schedule.cron, schedule.every, schedule.timezone, schedule.next_run_at,
    case schedule.missed when 'each' then schedule.next_run_at else _settle_next_run.now end
  );
  if next_run_at is null then
    trouble := 'It never comes again';
  end if;
exception when others then
  if pgjobs._is_passing(sqlstate) then
    raise;
  end if;
  trouble := sqlerrm;
end
$$;

comment on function pgjobs._settle_next_run is
  'When a schedule is due next. Example: see pgjobs.fire_schedules, for which it is settled';

-- Runs a schedule that is due, or notes why not, and settles when it is due next. One that
-- cannot be is paused: those after it are not to blame.
--
-- The task's key names schedule and time: a run that is due once is submitted once.
create function pgjobs._run_due_schedule(schedule pgjobs.schedules, now timestamptz)
returns boolean
language plpgsql volatile
as $$
declare
  v_due timestamptz := schedule.next_run_at;
  v_task bigint;
  v_next record := pgjobs._settle_next_run(schedule, _run_due_schedule.now);
  v_reason text := case
    when schedule.missed = 'skip' and _run_due_schedule.now - v_due > interval '1 minute'
      then format('Missed: no process started it for %s', pgjobs._ago(v_due, _run_due_schedule.now))
    when not schedule.overlap and exists (
      select from pgjobs.schedule_runs as r
      where r.schedule_id = schedule.id and r.task_id is not null and pgjobs._is_under_way(r.task_id)
    ) then 'A run before it has not ended'
  end;
begin
  if v_reason is null then
    begin
      v_task := pgjobs._submit_run(
        schedule, v_due, format('schedule %s %s', schedule.id, to_char(v_due at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
      );
    exception when others then
      -- A job that was archived, say.
      if pgjobs._is_passing(sqlstate) then
        raise;
      end if;
      v_reason := sqlerrm;
    end;
  end if;
  perform pgjobs._note_run(schedule, v_due, v_task, v_reason, false);
  perform pgjobs._record_schedule(
    schedule, case when v_task is null then 'schedule_skipped' else 'schedule_fired' end, null, v_reason, v_task
  );
  update pgjobs.schedules as s
  set
    next_run_at = v_next.next_run_at,
    paused_at = case when v_next.next_run_at is null then _run_due_schedule.now end,
    last_run_at = case when v_task is null then s.last_run_at else v_due end
  where s.id = schedule.id;
  if v_next.trouble is not null then
    perform pgjobs._record_schedule(schedule, 'schedule_paused', null, v_next.trouble);
  end if;
  return v_task is not null;
end
$$;

comment on function pgjobs._run_due_schedule is 'Runs a schedule that is due. Example: see pgjobs.fire_schedules, which chooses it';
