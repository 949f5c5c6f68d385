-- What a task is unique by, as text: its room, and its key or the digest of its arguments.
-- Documents that are equal have one digest, however their members are ordered and their
-- numbers written.
create function pgjobs._unique_name(
  room text, unique_by text, key text, idempotency_key text, payload jsonb, fields text[]
)
returns text
language plpgsql immutable
as $$
declare
  v_by text := coalesce(unique_by, case when key is not null then 'key' when idempotency_key is not null then 'idempotency_key' else 'arguments' end);
  v_chosen jsonb := payload;
begin
  if v_by not in ('key', 'idempotency_key', 'arguments') or (fields is not null and v_by <> 'arguments')
    or (v_by = 'key' and key is null) or (v_by = 'idempotency_key' and idempotency_key is null)
    or (fields is not null and (jsonb_typeof(payload) <> 'object' or cardinality(fields) not between 1 and 100))
  then
    perform pgjobs._refuse('validation-error', 'A task is unique by key, idempotency_key or arguments, which must be given',
      format('Got %s.', v_by), 'unique_fields choose among the arguments.');
  end if;
  if fields is not null then
    v_chosen := (
      select coalesce(jsonb_object_agg(f.name, payload -> f.name), '{}')
      from (select distinct u.name from unnest(fields) as u (name) where u.name is not null) as f
    );
  end if;
  return room || ':' || v_by || ':' || case v_by
    when 'key' then key
    when 'idempotency_key' then idempotency_key
    else to_hex(jsonb_hash_extended(v_chosen, 1)) || to_hex(jsonb_hash_extended(v_chosen, 2)) || coalesce(':' || fields::text, '')
  end;
end
$$;

comment on function pgjobs._unique_name is
  'What a task is unique by. Example: select pgjobs._unique_name(''@global'', null, ''acme'', null, ''{}'', null)';

-- Refuses wishes about uniqueness that cannot be.
create function pgjobs._check_unique(scope text, period interval, debounce interval, max_wait interval, replace text[])
returns void
language plpgsql immutable
as $$
begin
  if scope not in ('waiting', 'unfinished', 'period') or (scope = 'period') <> (period is not null)
    or period <= interval '0' or period > interval '366 days'
  then
    perform pgjobs._refuse('validation-error', 'unique_while must be waiting, unfinished or period, the last with a unique_period',
      format('Got %s.', scope));
  end if;
  if debounce <= interval '0' or debounce > interval '366 days' or max_wait < debounce
    or (max_wait is not null and debounce is null) or max_wait > interval '366 days'
  then
    perform pgjobs._refuse('validation-error', 'debounce must be longer than zero, and max_wait not shorter than it');
  end if;
  if not replace <@ array['payload', 'priority', 'due_at'] then
    perform pgjobs._refuse('validation-error', 'replace names payload, priority and due_at', format('Got %s.', replace));
  end if;
  if scope <> 'waiting' and (debounce is not null or replace is not null) then
    perform pgjobs._refuse('validation-error', 'Only a task that waits can be replaced: unique_while must be waiting');
  end if;
end
$$;

comment on function pgjobs._check_unique is
  'Refuses wishes about uniqueness that cannot be. Example: select pgjobs._check_unique(''waiting'', null, null, null, null)';

-- Where a waiting task waits, locked until the transaction ends, so that nobody claims it
-- before what is said of it is committed; waits for a claim that is under way. No row when
-- it does not wait. `is_untouched` unless it was claimed before, or waits for other tasks.
create function pgjobs._lock_unclaimed(task_id bigint)
returns table (due_at timestamptz, is_untouched boolean)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_found record;
begin
  for v_try in 1..3 loop
    select r.due_at, r.attempt = 0 and r.updated_at is null as is_untouched into v_found
    from pgjobs.ready as r
    join pgjobs.tasks as t on t.id = _lock_unclaimed.task_id
    where r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
    for update of r;
    if not found then
      select r.due_at, r.attempt = 0 and r.updated_at is null as is_untouched into v_found
      from pgjobs.ready as r where r.task_id = _lock_unclaimed.task_id and r.is_again
      for update of r;
    end if;
    if not found then
      select s.run_at as due_at, s.attempt = 0 and s.updated_at is null and s.waits_for is null and s.error is null as is_untouched into v_found
      from pgjobs.scheduled as s where s.task_id = _lock_unclaimed.task_id
      for update of s;
    end if;
    if found then
      due_at := v_found.due_at;
      is_untouched := v_found.is_untouched
        and not exists (select from pgjobs.attempts as a where a.task_id = _lock_unclaimed.task_id);
      return next;
      return;
    end if;
  end loop;
end
$$;

comment on function pgjobs._lock_unclaimed is
  'Locks a waiting task where it waits. Example: select * from pgjobs._lock_unclaimed(42)';

-- Gives a task that nobody has claimed another body under its number, and its new place.
create function pgjobs._replace_waiting(
  task_id bigint, payload jsonb, priority integer, due_at timestamptz, replaced text[], actor text, now timestamptz
)
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_task pgjobs.tasks;
begin
  perform pgjobs._check_documents(array[_replace_waiting.payload], 'payload');
  perform from pgjobs._take_pending(array[_replace_waiting.task_id]);
  delete from pgjobs.tasks as t where t.id = _replace_waiting.task_id returning t.* into v_task;
  if 'payload' = any (replaced) then
    v_task.payload := _replace_waiting.payload;
  end if;
  if 'priority' = any (replaced) then
    v_task.priority := _replace_waiting.priority;
  end if;
  insert into pgjobs.tasks overriding system value select v_task.*;
  insert into pgjobs.lanes (job_id, priority)
  select v_task.job_id, v_task.priority
  where not exists (select from pgjobs.lanes as l where l.job_id = v_task.job_id and l.priority = v_task.priority);
  if _replace_waiting.due_at <= _replace_waiting.now then
    insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again)
    values (v_task.job_id, v_task.priority, _replace_waiting.due_at, v_task.id, true);
    perform pgjobs._floors_are_wrong();
  else
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority)
    values (v_task.id, _replace_waiting.due_at, v_task.job_id, v_task.priority);
  end if;
  perform pgjobs._enter_keys(array[v_task.id]);
  perform pgjobs._wake(v_task.job_id, 1);
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, actor, fields)
  values (
    _replace_waiting.now, 'replaced', v_task.id, v_task.job_id, v_task.room, 'pending', _replace_waiting.actor,
    jsonb_build_object('replaced', replaced, 'run_at', _replace_waiting.due_at)
  );
end
$$;

comment on function pgjobs._replace_waiting is
  'Gives a waiting task another body. Example: see pgjobs.submit_unique, which found it';

-- Forgets what stands for nothing any more.
create function pgjobs._sweep_unique(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_over tid[] := array(
    select u.ctid from pgjobs.unique_tasks as u
    where u.expires_at <= _sweep_unique.now
    order by u.expires_at
    limit _sweep_unique.batch
    for update skip locked
  );
begin
  update pgjobs.unique_tasks as u
  set expires_at = _sweep_unique.now + interval '1 hour'
  where u.ctid = any (v_over)
    and exists (select from pgjobs.task as t where t.id = u.task_id and t.status in ('pending', 'claimed', 'running', 'ignored'));
  delete from pgjobs.unique_tasks as u where u.ctid = any (v_over);
  return cardinality(v_over);
end
$$;

comment on function pgjobs._sweep_unique is
  'Forgets unique tasks that are over. Example: select pgjobs._sweep_unique(pgjobs._now(), 1000)';
