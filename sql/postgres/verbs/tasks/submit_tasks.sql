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
  v_rooms text[] := pgjobs._rooms();
  v_attempts integer;
  v_from text;
  v_job pgjobs.jobs;
  v_room text;
  v_run_at timestamptz := submit_tasks.available_at;
  v_submitter text := submit_tasks.submitter;
  v_keys text[] := submit_tasks.idempotency_keys;
  v_ids bigint[];
  v_new boolean[];
  v_entered bigint[];
begin
  if submit_tasks.trace_context is not null then
    perform pgjobs._check_trace_context(submit_tasks.trace_context);
  end if;
  -- One task that is due now, by a caller who sees every room. What this leaves open is for the
  -- checks below, which say why.
  if cardinality(submit_tasks.payloads) = 1 and v_rooms is null and not submit_tasks.require_workers
    and num_nonnulls(
      submit_tasks.available_at, submit_tasks.delay, submit_tasks.idempotency_keys, submit_tasks.tags,
      submit_tasks.after, submit_tasks.on_failure, submit_tasks.keys, submit_tasks.items
    ) = 0
  then
    submit_tasks.task_id := pgjobs._submit_one(
      submit_tasks.job, submit_tasks.payloads[1], submit_tasks.room, submit_tasks.priority, submit_tasks.max_attempts,
      submit_tasks.submitter, submit_tasks.owner, submit_tasks.project, submit_tasks.trace_context, v_now
    );
    if submit_tasks.task_id is not null then
      submit_tasks.is_new := true;
      submit_tasks.item := 1;
      return next;
      return;
    end if;
  end if;
  v_from := case when v_rooms is null then submit_tasks.room else pgjobs._enter(submit_tasks.room) end;
  v_job := pgjobs._find_job(submit_tasks.job);
  v_room := coalesce(v_from, v_job.room);
  v_attempts := coalesce(submit_tasks.max_attempts, v_job.max_attempts);
  if v_rooms is not null then
    perform pgjobs._enter(v_room);
    v_submitter := pgjobs._actor(v_submitter);
    v_keys := case when v_job.room <> v_room and v_keys is not null then pgjobs._keys_of_room(v_keys, v_room) else v_keys end;
  end if;
  perform pgjobs._check_submission(
    v_job, submit_tasks.payloads, v_room, submit_tasks.priority, submit_tasks.delay, v_attempts,
    v_keys, submit_tasks.require_workers, submit_tasks.cross_room
  );
  v_run_at := coalesce(v_run_at, v_now + submit_tasks.delay);
  if submit_tasks.after is not null or submit_tasks.on_failure is not null then
    v_run_at := pgjobs._check_parents(submit_tasks.after, submit_tasks.on_failure, v_run_at);
  end if;
  if not pgjobs._is_known_year(v_run_at) then
    perform pgjobs._refuse('validation-error', 'available_at must be a time in the years 1 to 9999', format('Got %s.', v_run_at));
  end if;
  perform pgjobs._check_labels(submit_tasks.submitter, submit_tasks.owner, submit_tasks.project, submit_tasks.tags);
  if num_nonnulls(submit_tasks.keys, submit_tasks.items) > 0 then
    perform pgjobs._check_keys(submit_tasks.keys, cardinality(submit_tasks.payloads), submit_tasks.items);
  end if;
  if v_keys is not null then
    select k.ids, k.are_new into v_ids, v_new
    from pgjobs._draw_ids(v_job.id, v_keys) as k;
    if v_rooms is not null and exists (
      select from pgjobs.tasks as t where t.id = any (v_ids) and t.room <> all (v_rooms)
    ) then
      perform pgjobs._refuse('forbidden', 'The idempotency key is not yours to use');
    end if;
  end if;
  with new_tasks as (
    insert into pgjobs.tasks (
      id, job_id, room, payload, priority, max_attempts, created_at, submitter, owner, project, tags, idempotency_key,
      trace_context, key
    )
    overriding system value
    select
      coalesce(v_ids[i.place], nextval('pgjobs.tasks_id_seq')), v_job.id, v_room, i.payload, submit_tasks.priority,
      v_attempts, v_now, v_submitter, submit_tasks.owner, submit_tasks.project, submit_tasks.tags,
      v_keys[i.place], submit_tasks.trace_context, submit_tasks.keys[i.place]
    from unnest(submit_tasks.payloads) with ordinality as i (payload, place)
    where v_new is null or v_new[i.place]
    returning id
  )
  select array_agg(n.id) into v_entered from new_tasks as n;
  if v_job.events = 'full' then
    perform pgjobs._tell_submitted(v_entered);
  end if;
  perform pgjobs._use_quota(v_room, submit_tasks.owner, v_entered, v_now) where v_job.is_metered or v_room <> v_job.room;
  perform pgjobs._place_submitted(v_job, v_entered, submit_tasks.priority, v_run_at, cardinality(submit_tasks.payloads), v_now);
  if submit_tasks.after is not null then
    perform pgjobs._block(v_entered, submit_tasks.after, coalesce(submit_tasks.on_failure, 'cancel'), v_now);
  end if;
  return query
  select k.id, coalesce(k.is_new, true), coalesce(submit_tasks.items[k.place], k.place::integer)
  from unnest(coalesce(v_ids, v_entered), v_new) with ordinality as k (id, is_new, place);
end
$$;

comment on function pgjobs.submit_tasks is
  'Submits many tasks of one job. Example: select * from pgjobs.submit_tasks(''@global:modifiers:Rotate'', array[''{"angle": 90}''::jsonb])';
