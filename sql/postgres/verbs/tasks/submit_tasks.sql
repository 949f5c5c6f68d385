-- Submits one task per payload, all of one job, in the caller's transaction.
--
-- A task whose idempotency key was used before is not submitted again: the
-- answer names the first one, with is_new = false. Rows come in input order.
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
  trace_context text default null
)
returns table (task_id bigint, is_new boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_rooms text[] := pgjobs._rooms();
  v_from text := case when v_rooms is null then submit_tasks.room else pgjobs._enter(submit_tasks.room) end;
  v_job pgjobs.jobs := pgjobs._find_job(submit_tasks.job);
  v_room text := coalesce(v_from, v_job.room);
  v_attempts integer := coalesce(submit_tasks.max_attempts, v_job.max_attempts);
  v_run_at timestamptz := submit_tasks.available_at;
  v_submitter text := submit_tasks.submitter;
  v_keys text[] := submit_tasks.idempotency_keys;
  v_ids bigint[];
  v_new boolean[];
  v_entered bigint[];
begin
  if v_rooms is not null then
    perform pgjobs._enter(v_room);
    v_submitter := pgjobs._actor(v_submitter);
    v_keys := case when v_job.room <> v_room and v_keys is not null then pgjobs._keys_of_room(v_keys, v_room) else v_keys end;
  end if;
  perform pgjobs._check_submission(
    v_job, submit_tasks.payloads, v_room, submit_tasks.priority, submit_tasks.delay, v_attempts,
    v_keys, submit_tasks.require_workers, submit_tasks.cross_room
  );
  if v_run_at is null and submit_tasks.delay is not null then
    v_run_at := v_now + submit_tasks.delay;
  end if;
  if not pgjobs._is_known_year(v_run_at) then
    perform pgjobs._refuse('validation-error', 'available_at must be a time in the years 1 to 9999', format('Got %s.', v_run_at));
  end if;
  if submit_tasks.tags is not null
    or greatest(length(submit_tasks.submitter), length(submit_tasks.owner), length(submit_tasks.project)) > 200
  then
    perform pgjobs._check_labels(submit_tasks.submitter, submit_tasks.owner, submit_tasks.project, submit_tasks.tags);
  end if;
  if submit_tasks.trace_context is not null then
    perform pgjobs._check_trace_context(submit_tasks.trace_context);
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
      trace_context
    )
    overriding system value
    select
      coalesce(v_ids[i.place], nextval('pgjobs.tasks_id_seq')), v_job.id, v_room, i.payload, submit_tasks.priority,
      v_attempts, v_now, v_submitter, submit_tasks.owner, submit_tasks.project, submit_tasks.tags,
      v_keys[i.place], submit_tasks.trace_context
    from unnest(submit_tasks.payloads) with ordinality as i (payload, place)
    where v_new is null or v_new[i.place]
    returning id
  )
  select array_agg(n.id) into v_entered from new_tasks as n;
  if coalesce(v_run_at <= v_now, true) then
    insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again)
    select v_job.id, submit_tasks.priority, coalesce(v_run_at, v_now), n.id, coalesce(v_run_at < v_now, false)
    from unnest(v_entered) as n (id);
    if v_run_at < pgjobs._settled(v_now) then
      perform pgjobs._floors_are_wrong();
    end if;
    perform pgjobs._wake(v_job.id, cardinality(submit_tasks.payloads));
  else
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority)
    select n.id, v_run_at, v_job.id, submit_tasks.priority from unnest(v_entered) as n (id);
    -- An idle worker sleeps until what was due next when it looked.
    if v_run_at < v_now + interval '1 minute' then
      perform pgjobs._wake(v_job.id, 1);
    end if;
  end if;
  return query
  select k.id, coalesce(k.is_new, true) from unnest(coalesce(v_ids, v_entered), v_new) as k (id, is_new);
end
$$;

comment on function pgjobs.submit_tasks is
  'Submits many tasks of one job. Example: select * from pgjobs.submit_tasks(''@global:modifiers:Rotate'', array[''{"angle": 90}''::jsonb])';
