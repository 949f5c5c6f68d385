-- Submits whatever tasks there are: everything that submit_tasks does not do itself.
create function pgjobs._submit_many(
  job text,
  payloads jsonb[],
  room text,
  priority integer,
  available_at timestamptz,
  delay interval,
  max_attempts integer,
  idempotency_keys text[],
  submitter text,
  owner text,
  project text,
  tags text[],
  require_workers boolean,
  cross_room boolean,
  trace_context text,
  after bigint[],
  on_failure text,
  keys text[],
  items integer[]
)
returns table (task_id bigint, is_new boolean, item integer)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_rooms text[] := pgjobs._rooms();
  v_attempts integer;
  v_from text;
  v_job pgjobs.jobs;
  v_room text;
  v_run_at timestamptz := _submit_many.available_at;
  v_submitter text := _submit_many.submitter;
  v_keys text[] := _submit_many.idempotency_keys;
  v_ids bigint[];
  v_new boolean[];
  v_entered bigint[];
begin
  v_from := case when v_rooms is null then _submit_many.room else pgjobs._enter(_submit_many.room) end;
  v_job := pgjobs._find_job(_submit_many.job);
  v_room := coalesce(v_from, v_job.room);
  v_attempts := coalesce(_submit_many.max_attempts, v_job.max_attempts);
  if v_rooms is not null then
    perform pgjobs._enter(v_room);
    v_submitter := pgjobs._actor(v_submitter);
    v_keys := case when v_job.room <> v_room and v_keys is not null then pgjobs._keys_of_room(v_keys, v_room) else v_keys end;
  end if;
  perform pgjobs._check_submission(
    v_job, _submit_many.payloads, v_room, _submit_many.priority, _submit_many.delay, v_attempts,
    v_keys, _submit_many.require_workers, _submit_many.cross_room
  );
  v_run_at := coalesce(v_run_at, v_now + _submit_many.delay);
  if _submit_many.after is not null or _submit_many.on_failure is not null then
    v_run_at := pgjobs._check_parents(_submit_many.after, _submit_many.on_failure, v_run_at);
  end if;
  if not pgjobs._is_known_year(v_run_at) then
    perform pgjobs._refuse('validation-error', 'available_at must be a time in the years 1 to 9999', format('Got %s.', v_run_at));
  end if;
  perform pgjobs._check_labels(_submit_many.submitter, _submit_many.owner, _submit_many.project, _submit_many.tags);
  if num_nonnulls(_submit_many.keys, _submit_many.items) > 0 then
    perform pgjobs._check_keys(_submit_many.keys, cardinality(_submit_many.payloads), _submit_many.items);
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
      coalesce(v_ids[i.place], nextval('pgjobs.tasks_id_seq')), v_job.id, v_room, i.payload, _submit_many.priority,
      v_attempts, v_now, v_submitter, _submit_many.owner, _submit_many.project, _submit_many.tags,
      v_keys[i.place], _submit_many.trace_context, _submit_many.keys[i.place]
    from unnest(_submit_many.payloads) with ordinality as i (payload, place)
    where v_new is null or v_new[i.place]
    returning id
  )
  select array_agg(n.id) into v_entered from new_tasks as n;
  if v_job.events = 'full' then
    perform pgjobs._tell_submitted(v_entered);
  end if;
  perform pgjobs._use_quota(v_room, _submit_many.owner, v_entered, v_now) where v_job.is_metered or v_room <> v_job.room;
  perform pgjobs._place_submitted(v_job, v_entered, _submit_many.priority, v_run_at, cardinality(_submit_many.payloads), v_now);
  if _submit_many.after is not null then
    perform pgjobs._block(v_entered, _submit_many.after, coalesce(_submit_many.on_failure, 'cancel'), v_now);
  end if;
  return query
  select k.id, coalesce(k.is_new, true), coalesce(_submit_many.items[k.place], k.place::integer)
  from unnest(coalesce(v_ids, v_entered), v_new) with ordinality as k (id, is_new, place);
end
$$;

comment on function pgjobs._submit_many is
  'Submits tasks with every check. Example: see pgjobs.submit_tasks, which submits a plain one itself';
