-- Quotas: what each owner may have in a room. Of several that fit the one that says most
-- decides, for each number by itself: of room and owner, of the owner, of the room, of all.
--
-- Whoever submits counts what the owner has there, under a lock for that owner and room; jobs
-- that no quota can concern are not marked, and their submits look no further than that mark.

create function pgjobs._quota_of(room text, owner text)
returns pgjobs.quotas
language plpgsql stable
as $$
declare
  v_quota pgjobs.quotas;
begin
  select
    min(q.room), min(q.owner),
    (array_agg(q.max_waiting order by q.rank) filter (where q.max_waiting is not null))[1],
    (array_agg(q.per_minute order by q.rank) filter (where q.per_minute is not null))[1],
    (array_agg(q.max_running order by q.rank) filter (where q.max_running is not null))[1],
    min(q.since)
  into v_quota
  from (
    select o.*, case when o.owner <> '' then 0 else 2 end + case when o.room <> '' then 0 else 1 end as rank
    from pgjobs.quotas as o
    where o.room in (_quota_of.room, '') and o.owner in (coalesce(_quota_of.owner, ''), '')
  ) as q;
  return v_quota;
end
$$;

comment on function pgjobs._quota_of is
  'The quota of an owner in a room. Example: select (pgjobs._quota_of(''lab-7'', ''ada'')).*';

create function pgjobs._quota_lock(room text, owner text)
returns bigint
language sql immutable
return hashtextextended('quota:' || room || ':' || coalesce(owner, ''), 7);

comment on function pgjobs._quota_lock is
  'The advisory lock under which an owner''s tasks are counted. Example: select pgjobs._quota_lock(''lab-7'', ''ada'')';

-- Counts new tasks towards the quota of their owner and refuses those that are too many.
-- The lock is kept until the transaction ends, so submits of one owner follow each other.
create function pgjobs._use_quota(room text, owner text, task_ids bigint[], now timestamptz)
returns void
language plpgsql volatile
as $$
declare
  v_quota pgjobs.quotas := pgjobs._quota_of(_use_quota.room, _use_quota.owner);
begin
  if v_quota.since is null or _use_quota.task_ids is null then
    return;
  end if;
  perform pgjobs._require_read_committed('Tasks that a quota counts are submitted');
  perform pg_advisory_xact_lock(pgjobs._quota_lock(_use_quota.room, _use_quota.owner));
  insert into pgjobs.quota_uses (room, owner, task_id, at)
  select _use_quota.room, coalesce(_use_quota.owner, ''), i.id, _use_quota.now from unnest(_use_quota.task_ids) as i (id)
  on conflict do nothing;
  if num_nonnulls(v_quota.max_waiting, v_quota.per_minute) > 0 then
    perform pgjobs._check_quota(
      _use_quota.room, _use_quota.owner, v_quota.max_waiting, v_quota.per_minute, cardinality(_use_quota.task_ids), _use_quota.now
    );
  end if;
end
$$;

comment on function pgjobs._use_quota is
  'Counts new tasks towards a quota. Example: see pgjobs.submit_tasks, which calls it';

-- Refuses if an owner now has more than this in a room, `quantity` of them new. To be called
-- under the owner's lock, by a statement that began after it was had.
create function pgjobs._check_quota(
  room text, owner text, max_waiting integer, per_minute integer, quantity integer, now timestamptz
)
returns void
language plpgsql volatile
as $$
declare
  v_owner text := coalesce(_check_quota.owner, '');
  v_who text := case when v_owner = '' then format('Nobody in %s', room) else format('%s in %s', v_owner, room) end;
  v_since timestamptz := _check_quota.now - interval '1 minute';
  v_used record;
begin
  delete from pgjobs.quota_uses as u
  where u.room = _check_quota.room and u.owner = v_owner and u.at <= v_since
    and (
      exists (select from pgjobs.outcomes as o where o.task_id = u.task_id)
      or not exists (select from pgjobs.tasks as t where t.id = u.task_id)
    );
  select count(*) filter (where u.is_waiting) as waiting, count(*) filter (where u.at > v_since) as recent
  into v_used
  from (
    select
      q.at,
      not exists (select from pgjobs.leases as l where l.task_id = q.task_id)
      and not exists (select from pgjobs.outcomes as o where o.task_id = q.task_id)
      and not exists (select from pgjobs.ignored as i where i.task_id = q.task_id) as is_waiting
    from pgjobs.quota_uses as q
    where q.room = _check_quota.room and q.owner = v_owner
  ) as u;
  if v_used.recent > per_minute then
    perform pgjobs._refuse('quota-exceeded',
      format('%s may submit at most %s a minute', v_who, per_minute),
      format('There were %s in the last minute, and these are %s more.', v_used.recent - quantity, quantity),
      format('Try again in %s s.', ceil(extract(epoch from (
        select q.at from pgjobs.quota_uses as q
        where q.room = _check_quota.room and q.owner = v_owner and q.at > v_since
        order by q.at
        offset v_used.recent - per_minute - 1
        limit 1
      ) - v_since))::integer));
  end if;
  if v_used.waiting > max_waiting then
    perform pgjobs._refuse('quota-exceeded',
      format('%s may have at most %s waiting', v_who, max_waiting),
      format('There are %s, and these are %s more.', v_used.waiting - quantity, quantity), 'Try again in 10 s.');
  end if;
end
$$;

comment on function pgjobs._check_quota is
  'Refuses what is beyond a quota. Example: see pgjobs.submit_tasks, which counted the tasks before';

-- Has the tasks of an owner in a room counted from now on, for callers who bring limits of their own.
create function pgjobs._count_owner(room text, owner text, now timestamptz)
returns void
language plpgsql volatile
as $$
begin
  perform pgjobs._require_read_committed('Tasks that a quota counts are submitted');
  perform pg_advisory_xact_lock(pgjobs._quota_lock(_count_owner.room, _count_owner.owner));
  insert into pgjobs.quotas (room, owner, since)
  values (_count_owner.room, coalesce(_count_owner.owner, ''), _count_owner.now)
  on conflict do nothing;
  if found then
    perform pgjobs._mark_metered();
    perform pgjobs._count_for_quota(_count_owner.room, coalesce(_count_owner.owner, ''));
  end if;
end
$$;

comment on function pgjobs._count_owner is
  'Has the tasks of an owner counted. Example: see pgjobs.create_generic_jobs, which is given quotas';

-- Marks the jobs whose tasks a quota may concern, and only those: tasks of a job are submitted
-- from its room, those of @global and @internal from any.
create function pgjobs._mark_metered()
returns void
language plpgsql volatile
as $$
begin
  with wanted as (
    select
      j.id,
      exists (select from pgjobs.quotas as q where q.room in ('', j.room) or j.room in ('@global', '@internal')) as is_metered,
      exists (
        select from pgjobs.quotas as q
        where q.max_running is not null and (q.room in ('', j.room) or j.room in ('@global', '@internal'))
      ) as is_capped
    from pgjobs.jobs as j
  )
  update pgjobs.jobs as j
  set is_metered = w.is_metered, is_capped = w.is_capped
  from wanted as w
  where w.id = j.id and (j.is_metered, j.is_capped) <> (w.is_metered, w.is_capped);
end
$$;

comment on function pgjobs._mark_metered is
  'Marks the jobs that a quota may concern. Example: select pgjobs._mark_metered()';

-- Has what waits or runs already count.
create function pgjobs._count_for_quota(room text, owner text)
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.quota_uses (room, owner, task_id, at)
  select t.room, coalesce(t.owner, ''), t.id, t.created_at
  from (
    select r.task_id from pgjobs.ready as r
    union all
    select s.task_id from pgjobs.scheduled as s
    union all
    select l.task_id from pgjobs.leases as l
  ) as p
  join pgjobs.tasks as t on t.id = p.task_id
  where _count_for_quota.room in ('', t.room) and _count_for_quota.owner in ('', coalesce(t.owner, ''))
  on conflict do nothing;
end
$$;

comment on function pgjobs._count_for_quota is
  'Has what waits already count towards a quota. Example: select pgjobs._count_for_quota(''lab-7'', ''ada'')';

-- Brings in jobs that were registered and tasks that were submitted while a quota was set, and
-- forgets tasks that have ended.
create function pgjobs._sweep_quotas(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_removed integer := 0;
  v_recent record;
begin
  if exists (select from pgjobs.quotas as q) then
    perform pgjobs._mark_metered();
    for v_recent in
      select q.room, q.owner from pgjobs.quotas as q where q.since > _sweep_quotas.now - interval '5 minutes'
    loop
      perform pgjobs._count_for_quota(v_recent.room, v_recent.owner);
    end loop;
  end if;
  if exists (select from pgjobs.quota_uses as u) then
    delete from pgjobs.quota_uses as u
    where u.ctid = any (array(
      select q.ctid from pgjobs.quota_uses as q
      where q.at <= _sweep_quotas.now - interval '1 minute'
        and (
          exists (select from pgjobs.outcomes as o where o.task_id = q.task_id)
          or not exists (select from pgjobs.tasks as t where t.id = q.task_id)
          or (pgjobs._quota_of(q.room, q.owner)).since is null
        )
      limit _sweep_quotas.batch
      for update skip locked
    ));
    get diagnostics v_removed = row_count;
  end if;
  return v_removed;
end
$$;

comment on function pgjobs._sweep_quotas is
  'Upkeep of quotas. Example: select pgjobs._sweep_quotas(pgjobs._now(), 1000)';
