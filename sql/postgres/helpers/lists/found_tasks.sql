-- The number from which on tasks were submitted at or after a moment. Numbers
-- grow with time, so the primary key is searched by halves; tasks submitted at
-- the same time may lie on either side.
create function pgjobs._task_number_at(moment timestamptz)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_low bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id limit 1), 1);
  v_high bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id desc limit 1), 0) + 1;
  v_middle bigint;
  v_id bigint;
  v_created_at timestamptz;
begin
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select t.id, t.created_at into v_id, v_created_at from pgjobs.tasks as t where t.id >= v_middle order by t.id limit 1;
    if v_id is null or v_id >= v_high or v_created_at >= _task_number_at.moment then
      v_high := v_middle;
    else
      v_low := v_id + 1;
    end if;
  end loop;
  return v_low;
end
$$;

comment on function pgjobs._task_number_at is
  'Where tasks of a time begin. Example: select pgjobs._task_number_at(pgjobs._now() - interval ''1 hour'')';

-- Rooms that submitted tasks of a job, at most `wanted`: two index probes for each.
create function pgjobs._rooms_using(job_id integer, wanted integer)
returns text[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := '{}';
  v_room text := '';
  v_looks integer := 0;
begin
  loop
    select t.room into v_room from pgjobs.tasks as t where t.room > v_room order by t.room limit 1;
    exit when v_room is null;
    v_looks := v_looks + 1;
    -- Too many rooms to look into each.
    if v_looks > 10 * _rooms_using.wanted or cardinality(v_rooms) >= _rooms_using.wanted then
      return null;
    end if;
    if exists (select from pgjobs.tasks as t where t.room = v_room and t.job_id = _rooms_using.job_id) then
      v_rooms := v_rooms || v_room;
    end if;
  end loop;
  return v_rooms;
end
$$;

comment on function pgjobs._rooms_using is
  'Rooms that submitted tasks of a job, null when there are too many. Example: select pgjobs._rooms_using(1, 50)';

-- Numbers of the newest tasks of a room, a job and a status, each of them
-- optional; each case is read where an index is.
create function pgjobs._newest_of(room text, job_id integer, status text, before bigint, wanted bigint)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if _newest_of.room is null and v_rooms is not null then
    return query
    select n.id
    from pgjobs._newest_in_rooms(
      v_rooms, null, null, _newest_of.job_id, _newest_of.status, _newest_of.before, _newest_of.wanted
    ) as n (id);
    return;
  end if;
  if _newest_of.room is not null then
    return query
    select p.id
    from pgjobs._page_of_tasks(
      _newest_of.room,
      case when _newest_of.job_id is null then pgjobs._jobs_used_in(_newest_of.room) else array[_newest_of.job_id] end,
      _newest_of.status, _newest_of.before, _newest_of.wanted
    ) as p (id)
    order by p.id desc;
    return;
  end if;
  if _newest_of.job_id is null then
    return query
    select p.id from pgjobs._newest_anywhere(_newest_of.status, _newest_of.before, _newest_of.wanted) as p (id) order by p.id desc;
    return;
  end if;
  v_rooms := pgjobs._rooms_using(_newest_of.job_id, 50);
  if v_rooms is not null then
    return query
    select p.id
    from unnest(v_rooms) as r (room)
    cross join lateral pgjobs._page_of_tasks(
      r.room, array[_newest_of.job_id], _newest_of.status, _newest_of.before, _newest_of.wanted
    ) as p (id)
    order by p.id desc
    limit _newest_of.wanted;
    return;
  end if;
  return query
  select t.id
  from pgjobs._newest_anywhere(_newest_of.status, _newest_of.before, 10000) as p (id)
  join pgjobs.tasks as t on t.id = p.id and t.job_id = _newest_of.job_id
  order by t.id desc
  limit _newest_of.wanted;
end
$$;

comment on function pgjobs._newest_of is
  'Numbers of the newest tasks of a room, job or status. Example: select * from pgjobs._newest_of(null, 1, ''failed'', 1000, 50)';

-- Which of these tasks belong to an owner and say a text: in an error, a reason,
-- a key, a tag, the names of people and jobs, or the public id; on request in the payload,
-- as it is shown, so that nobody can guess at what is hidden.
create function pgjobs._matches_text(ids bigint[], owner text, matching text, in_payloads boolean default false)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_text text := lower(_matches_text.matching);
  v_is_id boolean := v_text ~ '^[0-9a-f-]{8,35}$';
  v_jobs integer[] := array(select j.id from pgjobs.jobs as j where position(v_text in lower(j.full_name)) > 0);
  v_shows boolean := (select c.show_secrets from pgjobs.settings as c);
begin
  return query
  select t.id
  from unnest(_matches_text.ids) as n (id)
  cross join lateral (
    select b.* from pgjobs.tasks as b where b.id = n.id and (_matches_text.owner is null or b.owner = _matches_text.owner) offset 0
  ) as t
  where v_text is null
    or t.job_id = any (v_jobs)
    or position(v_text in lower(concat_ws(' ', t.idempotency_key, t.owner, t.project, t.submitter, array_to_string(t.tags, ' ')))) > 0
    or exists (
      select from pgjobs.outcomes as o where o.task_id = n.id and position(v_text in lower(concat_ws(' ', o.error, o.reason))) > 0
    )
    or exists (select from pgjobs.scheduled as s where s.task_id = n.id and position(v_text in lower(s.error)) > 0)
    or (v_is_id and right(pgjobs.task_uuid(n.id)::text, length(v_text)) = v_text)
    or (
      _matches_text.in_payloads and position(v_text in lower(t.payload::text)) > 0
      and position(v_text in lower(pgjobs._shown_payload(t.payload, v_shows)::text)) > 0
    )
  order by t.id desc;
end
$$;

comment on function pgjobs._matches_text is
  'Which tasks say a text. Example: select * from pgjobs._matches_text(array[41, 42], null, ''refused'')';

-- The jobs a filter means: the one of that address, number or public id, else those whose
-- address has the text in it, at most twenty.
create function pgjobs._jobs_matching(part text)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
  v_jobs integer[];
begin
  if _jobs_matching.part !~ '^([0-9]{1,9}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$'
    and not exists (select from pgjobs.jobs as j where j.full_name = _jobs_matching.part)
  then
    v_jobs := array(
      select j.id from pgjobs.jobs as j
      where position(lower(_jobs_matching.part) in lower(j.full_name)) > 0 and j.deleted_at is null
        and (v_rooms is null or j.room = any (v_rooms || '{@global,@internal}'::text[]))
      order by j.id
      limit 21
    );
  end if;
  if cardinality(v_jobs) > 20 then
    perform pgjobs._refuse('validation-error', format('More than 20 jobs match %L', _jobs_matching.part),
      null, 'Write more of the name.');
  end if;
  if v_jobs <> '{}' then
    return v_jobs;
  end if;
  return array[(pgjobs._find_job(_jobs_matching.part)).id];
end
$$;

comment on function pgjobs._jobs_matching is
  'The jobs a part of an address means. Example: select pgjobs._jobs_matching(''rotate'')';

-- Numbers of the newest tasks that fit every filter, at most `wanted`, looking at
-- a bounded number of them; `next` is where to go on, null at the end. `looked` tells how
-- many were looked at, and `oldest` which of them came first.
create function pgjobs._found_tasks(
  room text,
  job text,
  status text,
  owner text,
  since timestamptz,
  until timestamptz,
  matching text,
  before bigint,
  wanted integer,
  in_payloads boolean default false,
  out ids bigint[],
  out next bigint,
  out looked integer,
  out oldest bigint
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_jobs integer[] := case when _found_tasks.job is not null then pgjobs._jobs_matching(_found_tasks.job) end;
  v_floor bigint := case when _found_tasks.since is not null then pgjobs._task_number_at(_found_tasks.since) else 0 end;
  v_before bigint := least(_found_tasks.before, case when _found_tasks.until is not null
    then pgjobs._task_number_at(_found_tasks.until) end, 9223372036854775807);
  -- Dearest first: the end of an id is compared with an id that has to be made.
  v_looked bigint := case
    when _found_tasks.matching ~* '^[0-9a-f-]{8,35}$' or (_found_tasks.matching is not null and _found_tasks.in_payloads) then 500
    when _found_tasks.matching is not null then 2000
    when _found_tasks.owner is not null then 5000
    else _found_tasks.wanted
  end;
  v_seen bigint[];
  v_known bigint[];
  v_named bigint;
begin
  if _found_tasks.status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored') then
    perform pgjobs._refuse('validation-error', format('Unknown status %s', quote_literal(_found_tasks.status)));
  end if;
  if _found_tasks.room is not null then
    perform pgjobs._check_room(_found_tasks.room);
    perform pgjobs._enter(_found_tasks.room);
  end if;
  -- A whole public id or number names its task, however old it is. A number may be a text too.
  v_named := case
    when _found_tasks.matching ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then pgjobs.task_id(_found_tasks.matching::uuid)
    when _found_tasks.matching ~ '^[0-9]{1,18}$' then _found_tasks.matching::bigint
  end;
  v_known := array(
    select v.id from pgjobs.task as v
    where v.id = v_named and v.id < v_before and v.id >= v_floor
      and (_found_tasks.room is null or v.room = _found_tasks.room)
      and not pgjobs._is_closed(v.room)
      and (v_jobs is null or v.job_id = any (v_jobs))
      and (_found_tasks.status is null or v.status = _found_tasks.status)
      and (_found_tasks.owner is null or v.owner = _found_tasks.owner)
  );
  if _found_tasks.matching ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    ids := v_known;
    return;
  end if;
  v_seen := array(
    select n.id
    from unnest(coalesce(v_jobs, array[null::integer])) as j (id)
    cross join lateral pgjobs._newest_of(_found_tasks.room, j.id, _found_tasks.status, v_before, v_looked) as n (id)
    order by n.id desc
    limit v_looked
  );
  looked := cardinality(v_seen);
  oldest := v_seen[looked];
  if looked >= v_looked then
    next := oldest;
  end if;
  if v_floor > 0 then
    next := case when next > v_floor then next end;
    v_seen := array(select n.id from unnest(v_seen) as n (id) where n.id >= v_floor order by n.id desc);
  end if;
  if _found_tasks.owner is null and _found_tasks.matching is null then
    ids := v_seen;
    return;
  end if;
  ids := array(
    select s.id
    from pgjobs._matches_text(v_seen, _found_tasks.owner, _found_tasks.matching, _found_tasks.in_payloads) as s (id)
    where s.id <> all (v_known)
    limit _found_tasks.wanted
  );
  if cardinality(ids) = _found_tasks.wanted then
    next := ids[cardinality(ids)];
  end if;
  -- On the first page only: there is no later one that it would be on again.
  if _found_tasks.before is null then
    ids := v_known || ids;
  end if;
end
$$;

comment on function pgjobs._found_tasks is
  'Numbers of tasks that fit some filters. Example: select * from pgjobs._found_tasks(null, null, ''failed'', null, null, null, ''refused'', null, 50)';

-- What an operator may do with a task that stands so.
create function pgjobs._allowed_steps(status text, phase text)
returns text[]
language sql immutable
return case status
  when 'failed' then array['retry', 'ignore']
  when 'cancelled' then array['retry']
  when 'ignored' then array['retry', 'unignore']
  when 'claimed' then array['cancel']
  when 'running' then array['cancel']
  when 'pending' then
    case when phase in ('due', 'sleeping', 'waiting', 'dependent', 'held') then '{}'::text[] else array['retry'] end
    || array['ignore', 'cancel']
  else '{}'::text[]
end;

comment on function pgjobs._allowed_steps is
  'What an operator may do with a task. Example: select pgjobs._allowed_steps(''failed'', null)';
