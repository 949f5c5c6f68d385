-- Submits one task per payload, all of one job, in the caller's transaction.
--
-- A task whose idempotency key was used before is not submitted again: the
-- answer names the first one, with is_new = false. Rows come in input order, each with the place
-- of its payload, or what `items` calls it: for whoever submits parts of a list in several
-- places. `keys` are what tasks are grouped by, one for each payload; see limit_job.
--
-- With `after` they wait until all tasks it names have ended; `on_failure` says what
-- happens if one of those does not complete: cancel (as without it), run or hold.
create function pgjobs.submit_tasks(
  job text,
  payloads jsonb[],
  room text default null,
  priority integer default 5,
  available_at timestamptz default null,
  delay interval default null,
  max_attempts integer default null,
  idempotency_keys text[] default null,
  submitter text default null,
  owner text default null,
  project text default null,
  tags text[] default null,
  require_workers boolean default false,
  cross_room boolean default false,
  trace_context text default null,
  after bigint[] default null,
  on_failure text default null,
  keys text[] default null,
  items integer[] default null
)
returns table (task_id bigint, is_new boolean, item integer)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_clock bigint := pgjobs._clock_ms();
  v_job_id integer;
  v_job_room text;
  v_attempts integer;
  v_is_told boolean;
  v_has_lane boolean;
  v_marks bigint[];
  v_mark bigint;
begin
  if submit_tasks.trace_context is not null then
    perform pgjobs._check_trace_context(submit_tasks.trace_context);
  end if;
  -- One task that is due now, by a caller who sees every room, in one look and one write. Whatever
  -- _check_submission or _check_labels refuses must not pass here: _submit_many says why.
  if cardinality(submit_tasks.payloads) = 1 and submit_tasks.priority between 1 and 10 and not submit_tasks.require_workers
    and num_nonnulls(
      submit_tasks.available_at, submit_tasks.delay, submit_tasks.idempotency_keys, submit_tasks.tags,
      submit_tasks.after, submit_tasks.on_failure, submit_tasks.keys, submit_tasks.items
    ) = 0
    and pg_column_size(submit_tasks.payloads[1]) <= 512 and octet_length(submit_tasks.payloads[1]::text) <= 308
    and coalesce(greatest(length(submit_tasks.submitter), length(submit_tasks.owner), length(submit_tasks.project)), 0) <= 200
    and pgjobs._rooms() is null
  then
    if strpos(submit_tasks.job, ':') > 0 then
      select
        j.id, j.room, coalesce(submit_tasks.max_attempts, j.max_attempts), j.events = 'full',
        exists (select from pgjobs.lanes as l where l.job_id = j.id and l.priority = submit_tasks.priority)
      into v_job_id, v_job_room, v_attempts, v_is_told, v_has_lane
      from pgjobs.jobs as j
      where j.full_name = submit_tasks.job and j.deleted_at is null and j.archived_at is null and not j.is_shared and not j.is_metered;
    elsif submit_tasks.job ~ '^[0-9]{1,9}$' then
      select
        j.id, j.room, coalesce(submit_tasks.max_attempts, j.max_attempts), j.events = 'full',
        exists (select from pgjobs.lanes as l where l.job_id = j.id and l.priority = submit_tasks.priority)
      into v_job_id, v_job_room, v_attempts, v_is_told, v_has_lane
      from pgjobs.jobs as j
      where j.id = submit_tasks.job::integer and j.deleted_at is null and j.archived_at is null and not j.is_shared and not j.is_metered;
    end if;
  end if;
  if not coalesce(
    v_has_lane and v_attempts between 1 and 10000 and (
      submit_tasks.room is null or submit_tasks.room = v_job_room
      or (
        v_job_room in ('@global', '@internal') and submit_tasks.room <> '' and length(submit_tasks.room) <= 200
        and strpos(submit_tasks.room, '@') = 0 and strpos(submit_tasks.room, ':') = 0
      )
    ), false
  ) then
    return query
    select m.*
    from pgjobs._submit_many(
      submit_tasks.job, submit_tasks.payloads, submit_tasks.room, submit_tasks.priority, submit_tasks.available_at,
      submit_tasks.delay, submit_tasks.max_attempts, submit_tasks.idempotency_keys, submit_tasks.submitter,
      submit_tasks.owner, submit_tasks.project, submit_tasks.tags, submit_tasks.require_workers,
      submit_tasks.cross_room, submit_tasks.trace_context, submit_tasks.after, submit_tasks.on_failure,
      submit_tasks.keys, submit_tasks.items
    ) as m;
    return;
  end if;
  begin
    v_marks := pgjobs._floor_read('waiting');
  exception when data_exception then
    v_marks := null;
  end;
  if not coalesce(pgjobs._floor_holds(v_marks, v_clock, 0, pgjobs._last_id()), false) then
    v_marks := null;
  end if;
  with body as (
    insert into pgjobs.tasks (
      job_id, room, payload, priority, max_attempts, created_at, submitter, owner, project, trace_context
    )
    values (
      v_job_id, coalesce(submit_tasks.room, v_job_room), submit_tasks.payloads[1], submit_tasks.priority, v_attempts,
      v_now, submit_tasks.submitter, submit_tasks.owner, submit_tasks.project, submit_tasks.trace_context
    )
    returning id
  )
  insert into pgjobs.ready (job_id, priority, due_at, task_id)
  select v_job_id, submit_tasks.priority, v_now, b.id from body as b
  returning
    task_id, (select w.id from pgjobs.waiting_marks as w where w.id >= coalesce(v_marks[1], 0) order by w.id limit 1)
  into submit_tasks.task_id, v_mark;
  if v_is_told then
    perform pgjobs._tell_submitted(array[submit_tasks.task_id]);
  end if;
  -- Nobody waits, as far as this session remembers: the twin is the beginning of _wake.
  if v_mark is not null or v_marks is null then
    perform pgjobs._wake(v_job_id, 1);
  end if;
  submit_tasks.is_new := true;
  submit_tasks.item := 1;
  return next;
end
$$;

comment on function pgjobs.submit_tasks is
  'Submits many tasks of one job. Example: select * from pgjobs.submit_tasks(''@global:modifiers:Rotate'', array[''{"angle": 90}''::jsonb])';
