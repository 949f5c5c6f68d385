-- Every reason to refuse a submission, before anything is written. Opens the
-- lane for its priority, which is all it leaves behind.
create function pgjobs._check_submission(
  job pgjobs.jobs,
  payloads jsonb[],
  room text,
  priority integer,
  delay interval,
  max_attempts integer,
  idempotency_keys text[],
  require_workers boolean,
  cross_room boolean
)
returns void
language plpgsql volatile
as $$
begin
  perform pgjobs._check_room(room);
  if job.deleted_at is not null then
    perform pgjobs._refuse('job-not-found', format('Job %s does not exist', job.full_name), 'It was retired.');
  end if;
  if job.room not in ('@global', '@internal', _check_submission.room) and not cross_room then
    perform pgjobs._refuse_room(job.full_name, _check_submission.room);
  end if;
  if job.archived_at is not null then
    perform pgjobs._refuse('job-unavailable', format('Job %s is archived', job.full_name),
      format('Since %s.', job.archived_at), format('select pgjobs.unarchive_job(%L)', job.full_name));
  end if;
  if payloads is null or cardinality(payloads) > 10000 or array_position(payloads, null) is not null then
    perform pgjobs._refuse('validation-error', 'payloads must be an array of at most 10000 JSON documents, none null');
  end if;
  if priority is null or priority not between 1 and 10 then
    perform pgjobs._refuse('validation-error', 'priority must be between 1 and 10', format('Got %s.', priority));
  end if;
  if delay is not null then
    perform pgjobs._check_delay(_check_submission.delay);
  end if;
  if max_attempts not between 1 and 10000 then
    perform pgjobs._refuse('validation-error', 'max_attempts must be between 1 and 10000', format('Got %s.', max_attempts));
  end if;
  if idempotency_keys is not null then
    if cardinality(idempotency_keys) <> cardinality(payloads)
      or exists (select from unnest(idempotency_keys) as k (key) where k.key = '' or length(k.key) > 200)
    then
      perform pgjobs._refuse('validation-error', 'idempotency_keys must be one for each payload, of 1 to 200 characters');
    end if;
  end if;
  if require_workers then
    if not exists (select from pgjobs.worker_jobs as w where w.job_id = job.id) then
      perform pgjobs._refuse('no-workers-available', format('Job ''%s'' has no connected workers', job.full_name));
    end if;
  end if;
  perform pgjobs._check_documents(payloads, 'payload');
  if not exists (
    select from pgjobs.lanes as l where l.job_id = job.id and l.priority = _check_submission.priority
  ) then
    insert into pgjobs.lanes (job_id, priority) values (job.id, _check_submission.priority);
  end if;
end
$$;

comment on function pgjobs._check_submission is
  'Refuses submissions that cannot be. Example: see pgjobs.submit_tasks, which calls it first';

-- Whose a task is and what it is called by: text that others read, in lists and in claims.
create function pgjobs._check_labels(submitter text, owner text, project text, tags text[])
returns void
language plpgsql immutable
as $$
begin
  if greatest(length(submitter), length(owner), length(project)) > 200 then
    perform pgjobs._refuse('validation-error', 'submitter, owner and project have at most 200 characters');
  end if;
  if cardinality(tags) > 20 or exists (select from unnest(tags) as t (tag) where length(t.tag) > 200) then
    perform pgjobs._refuse('validation-error', 'tags are at most 20, of at most 200 characters');
  end if;
end
$$;

comment on function pgjobs._check_labels is
  'Refuses labels that are too long or too many. Example: select pgjobs._check_labels(''ada'', ''ada'', null, array[''nightly''])';

create function pgjobs._check_trace_context(trace_context text)
returns void
language plpgsql immutable
as $$
begin
  if length(trace_context) > 568
    or trace_context !~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}( [ -~]+)?$'
  then
    perform pgjobs._refuse('validation-error', 'trace_context must be a W3C traceparent, then tracestate, if any, after a space');
  end if;
end
$$;

comment on function pgjobs._check_trace_context is
  'Refuses what is no trace context. Example: see pgjobs.submit_tasks, which calls it';

-- Task ids for a batch with idempotency keys: a fresh one for a new key, the
-- first task's for a known one, and none for an item without a key.
--
-- `do update` rather than `do nothing`: only it returns the row a concurrent
-- submitter has just committed. Keys go in order, so that batches cannot deadlock.
create function pgjobs._draw_ids(job_id integer, keys text[], out ids bigint[], out are_new boolean[])
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  with items as materialized (
    select i.key, i.place, nextval('pgjobs.tasks_id_seq') as id
    from unnest(_draw_ids.keys) with ordinality as i (key, place)
  ), kept as (
    insert into pgjobs.idempotency_keys as k (job_id, key, task_id)
    select _draw_ids.job_id, d.key, d.id
    from (select distinct on (i.key) i.key, i.id from items as i where i.key is not null order by i.key, i.place) as d
    on conflict (job_id, key) do update set task_id = k.task_id
    returning k.key, k.task_id
  )
  select
    array_agg(coalesce(k.task_id, i.id) order by i.place),
    array_agg(coalesce(k.task_id = i.id, true) order by i.place)
  into _draw_ids.ids, _draw_ids.are_new
  from items as i
  left join kept as k on k.key = i.key;
end
$$;

comment on function pgjobs._draw_ids is
  'Task ids for a batch of idempotency keys. Example: see pgjobs.submit_tasks, which calls it';

-- Submits one task that is due now, in one look and one write; null for one that this leaves to
-- submit_tasks. Whatever _check_submission or _check_labels refuses must not pass here.
create function pgjobs._submit_one(
  job text, payload jsonb, room text, priority integer, max_attempts integer, submitter text, owner text,
  project text, trace_context text, now timestamptz
)
returns bigint
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_job_id integer;
  v_job_room text;
  v_attempts integer;
  v_is_told boolean;
  v_has_lane boolean;
  v_clock bigint := pgjobs._clock_ms();
  v_marks bigint[];
  v_mark bigint;
  v_task bigint;
begin
  if _submit_one.priority is null or _submit_one.priority not between 1 and 10 or _submit_one.payload is null
    or pg_column_size(_submit_one.payload) > 512 or octet_length(_submit_one.payload::text) > 308
    or greatest(length(_submit_one.submitter), length(_submit_one.owner), length(_submit_one.project)) > 200
  then
    return null;
  elsif strpos(_submit_one.job, ':') > 0 then
    select
      j.id, j.room, coalesce(_submit_one.max_attempts, j.max_attempts), j.events = 'full',
      exists (select from pgjobs.lanes as l where l.job_id = j.id and l.priority = _submit_one.priority)
    into v_job_id, v_job_room, v_attempts, v_is_told, v_has_lane
    from pgjobs.jobs as j
    where j.full_name = _submit_one.job and j.deleted_at is null and j.archived_at is null and not j.is_shared and not j.is_metered;
  elsif _submit_one.job ~ '^[0-9]{1,9}$' then
    select
      j.id, j.room, coalesce(_submit_one.max_attempts, j.max_attempts), j.events = 'full',
      exists (select from pgjobs.lanes as l where l.job_id = j.id and l.priority = _submit_one.priority)
    into v_job_id, v_job_room, v_attempts, v_is_told, v_has_lane
    from pgjobs.jobs as j
    where j.id = _submit_one.job::integer and j.deleted_at is null and j.archived_at is null and not j.is_shared and not j.is_metered;
  end if;
  if not coalesce(
    v_has_lane and v_attempts between 1 and 10000 and (
      _submit_one.room is null or _submit_one.room = v_job_room
      or (
        v_job_room in ('@global', '@internal') and _submit_one.room <> '' and length(_submit_one.room) <= 200
        and strpos(_submit_one.room, '@') = 0 and strpos(_submit_one.room, ':') = 0
      )
    ), false
  ) then
    return null;
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
      v_job_id, coalesce(_submit_one.room, v_job_room), _submit_one.payload, _submit_one.priority, v_attempts,
      _submit_one.now, _submit_one.submitter, _submit_one.owner, _submit_one.project, _submit_one.trace_context
    )
    returning id
  )
  insert into pgjobs.ready (job_id, priority, due_at, task_id)
  select v_job_id, _submit_one.priority, _submit_one.now, b.id from body as b
  returning
    task_id, (select w.id from pgjobs.waiting_marks as w where w.id >= coalesce(v_marks[1], 0) order by w.id limit 1)
  into v_task, v_mark;
  if v_is_told then
    perform pgjobs._tell_submitted(array[v_task]);
  end if;
  -- Nobody waits, as far as this session remembers: the twin is the beginning of _wake.
  if v_mark is not null or v_marks is null then
    perform pgjobs._wake(v_job_id, 1);
  end if;
  return v_task;
end
$$;

comment on function pgjobs._submit_one is
  'Submits one task that is due now. Example: see pgjobs.submit_tasks, which calls it first';

-- Puts new tasks where they wait: in the queue, or in the schedule if they are due later.
create function pgjobs._place_submitted(
  job pgjobs.jobs, task_ids bigint[], priority integer, run_at timestamptz, quantity bigint, now timestamptz
)
returns void
language plpgsql volatile
as $$
begin
  if _place_submitted.run_at > _place_submitted.now then
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority)
    select n.id, _place_submitted.run_at, job.id, _place_submitted.priority from unnest(_place_submitted.task_ids) as n (id);
    if job.is_shared then
      perform pgjobs._enter_keys(_place_submitted.task_ids);
    end if;
    -- An idle worker sleeps until what was due next when it looked.
    if _place_submitted.run_at < _place_submitted.now + interval '1 minute' then
      perform pgjobs._wake(job.id, 1);
    end if;
    return;
  end if;
  if job.is_shared then
    perform pgjobs._enter_shared(
      job.id, _place_submitted.task_ids, coalesce(_place_submitted.run_at, _place_submitted.now),
      coalesce(_place_submitted.run_at < _place_submitted.now, false)
    );
  else
    insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again)
    select
      job.id, _place_submitted.priority, coalesce(_place_submitted.run_at, _place_submitted.now), n.id,
      coalesce(_place_submitted.run_at < _place_submitted.now, false)
    from unnest(_place_submitted.task_ids) as n (id);
    if _place_submitted.run_at < pgjobs._settled(_place_submitted.now) then
      perform pgjobs._floors_are_wrong();
    end if;
  end if;
  perform pgjobs._wake(job.id, _place_submitted.quantity);
end
$$;

comment on function pgjobs._place_submitted is
  'Puts new tasks where they wait. Example: see pgjobs.submit_tasks, which calls it';
