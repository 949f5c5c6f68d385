-- Finds a job by number, public id or address; refuses what does not exist, and in the
-- same words what is in a room that is closed to the caller.
create function pgjobs._find_job(job text)
returns pgjobs.jobs
language plpgsql stable
as $$
declare
  v_job pgjobs.jobs;
  v_rooms text[] := pgjobs._rooms();
begin
  -- By its address first, as nearly everybody calls it: the expressions below cost more than the look.
  select j.* into v_job from pgjobs.jobs as j where j.full_name = _find_job.job;
  if v_job.id is not null and v_rooms is null then
    return v_job;
  elsif v_job.id is null and _find_job.job ~ '^[0-9]{1,9}$' then
    select j.* into v_job from pgjobs.jobs as j where j.id = _find_job.job::integer;
  elsif v_job.id is null and _find_job.job ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then
    select j.* into v_job from pgjobs.jobs as j where j.uuid = _find_job.job::uuid;
  elsif coalesce(_find_job.job, '') !~ '^[^:]+:[^:]+:.' then
    perform pgjobs._refuse('job-not-found', 'Invalid job name format: ' || coalesce(_find_job.job, 'null'),
      null, 'Write room:category:name.');
  end if;
  if v_job.id is null or (v_rooms is not null and v_job.room <> all (v_rooms || '{@global,@internal}'::text[])) then
    perform pgjobs._refuse('job-not-found', format('Job %s does not exist', _find_job.job),
      null, 'select full_name from pgjobs.list_jobs()');
  end if;
  return v_job;
end
$$;

comment on function pgjobs._find_job is
  'A job by number, public id or address. Example: select (pgjobs._find_job(''@global:modifiers:Rotate'')).id';

-- Says that a job belongs to another room, as clients expect to be told.
create function pgjobs._refuse_room(job text, room text)
returns void
language plpgsql stable
as $$
begin
  perform pgjobs._refuse('job-not-found', format('Job ''%s'' is not accessible from room ''%s''', job, left(room, 200)),
    'It belongs to another room.');
end
$$;

comment on function pgjobs._refuse_room is
  'Refuses a job of another room. Example: select pgjobs._refuse_room(''lab:modifiers:Rotate'', ''elsewhere'')';

-- The same of a room that is open to the caller, for numbers: those of a shared job are
-- about everybody's tasks.
create function pgjobs._find_own_job(job text)
returns pgjobs.jobs
language plpgsql stable
as $$
declare
  v_job pgjobs.jobs := pgjobs._find_job(_find_own_job.job);
begin
  if pgjobs._is_closed(v_job.room) then
    perform pgjobs._refuse('job-not-found', format('Job %s does not exist', _find_own_job.job),
      null, 'select full_name from pgjobs.list_jobs()');
  end if;
  return v_job;
end
$$;

comment on function pgjobs._find_own_job is
  'A job of a room that is open to the caller. Example: select (pgjobs._find_own_job(''lab-7:modifiers:Rotate'')).id';

-- The worker, still registered and, when an actor is named, belonging to them.
create function pgjobs._find_worker(worker_id uuid, actor text default null, is_superuser boolean default false)
returns pgjobs.workers
language plpgsql stable
as $$
declare
  v_worker pgjobs.workers;
  v_actor text := pgjobs._actor(_find_worker.actor);
  v_is_foreign boolean;
begin
  select w.* into v_worker from pgjobs.workers as w where w.id = _find_worker.worker_id;
  v_is_foreign := v_actor is not null and v_worker.owner is distinct from v_actor
    and (not _find_worker.is_superuser or pgjobs._is_tenant());
  -- Whoever may not see every room does not learn either whether a worker exists.
  if v_worker.id is null or (v_is_foreign and pgjobs._rooms() is not null) then
    perform pgjobs._refuse('worker-not-found', format('Worker %s does not exist', _find_worker.worker_id),
      'It was never registered, was retired, or its heartbeats stopped.', 'Register a new worker.');
  end if;
  if v_is_foreign then
    perform pgjobs._refuse('forbidden', format('Worker %s belongs to someone else', _find_worker.worker_id));
  end if;
  return v_worker;
end
$$;

comment on function pgjobs._find_worker is
  'A registered worker. Example: select pgjobs._find_worker(''00000000-0000-0000-0000-000000000000'')';

create function pgjobs._check_room(room text)
returns void
language plpgsql stable
as $$
begin
  if room is null or (room not in ('@global', '@internal') and (room = '' or room ~ '[@:]' or length(room) > 200)) then
    -- Clients look for these words.
    perform pgjobs._refuse('invalid-room-id',
      case
        when length(room) > 200 then format('Room ID ''%s…'' is longer than 200 characters', left(room, 200))
        else format('Room ID ''%s'' contains invalid characters (@ or :)', room)
      end,
      null, 'A room is not empty, has at most 200 characters and neither @ nor a colon; or it is @global or @internal.');
  end if;
end
$$;

comment on function pgjobs._check_room is 'Refuses malformed rooms. Example: select pgjobs._check_room(''lab-7'')';
