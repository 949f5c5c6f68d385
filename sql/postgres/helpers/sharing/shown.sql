-- A rate in words, as it is given.
create function pgjobs._written_rate(quantity integer, per interval)
returns text
language sql immutable
return quantity || '/' || case
  when per = interval '1 second' then 's'
  when per = interval '1 minute' then 'min'
  when per = interval '1 hour' then 'h'
  when per = interval '1 day' then 'day'
  when extract(epoch from per) % 86400 = 0 then (extract(epoch from per) / 86400)::integer || 'day'
  when extract(epoch from per) % 3600 = 0 then (extract(epoch from per) / 3600)::integer || 'h'
  when extract(epoch from per) % 60 = 0 then (extract(epoch from per) / 60)::integer || 'min'
  else extract(epoch from per)::integer || 's'
end;

comment on function pgjobs._written_rate is
  'A rate in words. Example: select pgjobs._written_rate(100, ''1 minute'')';

-- Keys of a job with a task that is due or runs, in order of name: one probe for each.
create function pgjobs._known_keys(job_id integer, after text, most integer)
returns setof text
language plpgsql stable
as $$
begin
  return query
  with recursive waiting as (
    (
      select r.key from pgjobs.ready as r
      where r.job_id = _known_keys.job_id and r.key is not null and (_known_keys.after is null or r.key > _known_keys.after)
      order by r.key
      limit 1
    )
    union all
    select (
      select r.key from pgjobs.ready as r
      where r.job_id = _known_keys.job_id and r.key > k.key
      order by r.key
      limit 1
    )
    from waiting as k
    where k.key is not null
  ), running as (
    (
      select l.key from pgjobs.leases as l
      where l.job_id = _known_keys.job_id and l.is_limited and l.key is not null
        and (_known_keys.after is null or l.key > _known_keys.after)
      order by l.key
      limit 1
    )
    union all
    select (
      select l.key from pgjobs.leases as l
      where l.job_id = _known_keys.job_id and l.is_limited and l.key > k.key
      order by l.key
      limit 1
    )
    from running as k
    where k.key is not null
  )
  select u.key
  from (
    (select w.key from waiting as w where w.key is not null limit _known_keys.most)
    union
    (select r.key from running as r where r.key is not null limit _known_keys.most)
  ) as u
  order by u.key
  limit _known_keys.most;
end
$$;

comment on function pgjobs._known_keys is
  'Keys of a job with a task that is due or runs. Example: select * from pgjobs._known_keys(1, null, 100)';

-- Why no task of a key can be claimed now: full, rate or order; null when one can.
create function pgjobs._stopped_by(policy pgjobs.sharing, key text)
returns text
language plpgsql stable
as $$
begin
  return case
    when policy.job_id is null or _stopped_by.key = '' then null
    when pgjobs._slots_of_key(policy, _stopped_by.key) <= 0 then 'full'
    when pgjobs._key_room(policy, _stopped_by.key) <= 0 then 'rate'
    when pgjobs._key_end(policy, _stopped_by.key) is null then 'order'
  end;
end
$$;

comment on function pgjobs._stopped_by is
  'Why no task of a key can be claimed. Example: select pgjobs._stopped_by(s, ''acme'') from pgjobs.sharing as s';

-- What `why` says of a pending task's key: the limit, who holds the slots, when one comes free.
create function pgjobs._why_key(task_id bigint, now timestamptz, out is_ok boolean, out answer text, out advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_task record;
  v_policy pgjobs.sharing;
  v_stop text;
  v_holders text;
  v_free_at timestamptz;
  v_rate_at timestamptz;
  v_at timestamptz;
begin
  select t.job_id, t.key, j.full_name into v_task
  from pgjobs.tasks as t
  join pgjobs.jobs as j on j.id = t.job_id
  where t.id = _why_key.task_id;
  select s.* into v_policy from pgjobs.sharing as s where s.job_id = v_task.job_id;
  if v_policy.job_id is null then
    return;
  end if;
  v_rate_at := case
    when pgjobs._rate_room(v_policy.job_id, true, '', v_policy.rate, v_policy.rate_window) = 0
      then pgjobs._rate_resumes_at(v_policy.job_id, true, '', v_policy.rate, v_policy.rate_window)
  end;
  v_stop := case when v_rate_at is not null then 'job' else pgjobs._stopped_by(v_policy, coalesce(v_task.key, '')) end;
  is_ok := v_stop is null;
  if v_stop = 'full' then
    select string_agg(distinct coalesce(h.holder, w.name, h.worker_id::text), ', '), min(h.until)
    into v_holders, v_free_at
    from (
      select l.holder, l.worker_id, l.until from pgjobs.leases as l
      where l.job_id = v_task.job_id and l.key = v_task.key and l.is_limited
      order by l.task_id
      limit 5
    ) as h
    left join pgjobs.workers as w on w.id = h.worker_id;
  elsif v_stop = 'rate' then
    v_rate_at := pgjobs._rate_resumes_at(
      v_policy.job_id, false, v_task.key, v_policy.rate_per_key, v_policy.rate_per_key_window
    );
  end if;
  v_at := coalesce(v_free_at, v_rate_at);
  answer := case v_stop
    when 'full' then format('Key %s runs all it may at once: %s. %s %s it%s.', v_task.key,
      case when v_policy.is_ordered then '1, in order' else v_policy.max_running_per_key::text end, v_holders,
      case when v_holders like '%, %' then 'hold' else 'holds' end,
      case when v_at > now then format('; a slot comes free in %s at the latest, unless renewed', pgjobs._ago(v_at, now))
        else '; a slot comes free when one ends' end)
    when 'job' then format('Its job has used up its rate of %s; there is room again in %s.',
      pgjobs._written_rate(v_policy.rate, v_policy.rate_window), pgjobs._ago(v_at, now))
    when 'rate' then format('Key %s has used up its rate of %s; there is room again in %s.', v_task.key,
      pgjobs._written_rate(v_policy.rate_per_key, v_policy.rate_per_key_window), pgjobs._ago(v_at, now))
    when 'order' then format('Tasks of key %s run in order, and an earlier one is not due yet.', v_task.key)
    else format('Key %s may run a task now.', coalesce(v_task.key, '(none)'))
  end;
  advice := format('select * from pgjobs.list_keys(%L)', v_task.full_name);
end
$$;

comment on function pgjobs._why_key is
  'What keeps a task of a key from being claimed. Example: select * from pgjobs._why_key(42, pgjobs._now())';

-- Keys that starve: a task has been due for a quarter of an hour while others of its job
-- were claimed, and its key is not stopped by its own limits. And keys that wait for a
-- lease as long as that.
create function pgjobs._troubles_of_keys(now timestamptz)
returns table (severity text, subject text, message text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select
    'warning', 'job ' || j.full_name,
    format('key %s starves: its oldest task has been due for %s%s', coalesce(nullif(k.key, ''), '(none)'),
      pgjobs._ago(w.due_at, now),
      case pgjobs._stopped_by(s, k.key)
        when 'full' then ', and its slots are taken'
        when 'rate' then ', and its rate is used up'
        when 'order' then ', behind an earlier one that is not due yet'
        else ', while others are served'
      end),
    format('select * from pgjobs.list_keys(%L)', j.full_name)
  from pgjobs.sharing as s
  join pgjobs.jobs as j on j.id = s.job_id and j.paused_at is null and j.archived_at is null and j.deleted_at is null
  cross join lateral pgjobs._waiting_keys(s.job_id, 200) as k
  cross join lateral (
    select r.due_at from pgjobs.ready as r
    where r.job_id = s.job_id and r.key = k.key
    order by r.place, r.task_id
    limit 1
  ) as w
  where w.due_at < now - interval '15 minutes'
    and exists (
      select from pgjobs.leases as l
      where l.job_id = s.job_id and l.is_limited and l.claimed_at > now - interval '15 minutes'
    )
  order by w.due_at
  limit 20;
end
$$;

comment on function pgjobs._troubles_of_keys is
  'Keys that starve. Example: select * from pgjobs._troubles_of_keys(pgjobs._now())';
