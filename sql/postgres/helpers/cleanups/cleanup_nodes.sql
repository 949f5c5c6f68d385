-- Whose business a target is. A WebDAV server is reached from anywhere, so a process that
-- was given no node's name cares for those of all nodes; a directory, or anything else,
-- is where its node is. Who has no name is the hub, as is a target's node by default.
create function pgjobs._hub_cleans(node_id text, target jsonb)
returns boolean
language sql immutable
return node_id = 'hub' or target ->> 'type' = 'webdav';

comment on function pgjobs._hub_cleans is
  'Whether a process without a node''s name cleans up a target. Example: select pgjobs._hub_cleans(''agent-7'', ''{"type": "webdav"}'')';

-- Remembers that somebody cleans up for a node; once a minute is often enough.
create function pgjobs._note_cleaner(holder text, node_id text, now timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  if not exists (
    select from pgjobs.cleaners as c
    where c.holder = _note_cleaner.holder and c.node_id is not distinct from _note_cleaner.node_id
      and c.seen_at > _note_cleaner.now - interval '1 minute'
  ) then
    insert into pgjobs.cleaners as c (holder, node_id, seen_at)
    values (_note_cleaner.holder, _note_cleaner.node_id, _note_cleaner.now)
    on conflict (holder) do update set node_id = excluded.node_id, seen_at = excluded.seen_at;
  end if;
end
$$;

comment on function pgjobs._note_cleaner is
  'Remembers who cleans up for a node. Example: see pgjobs.claim_cleanups, which calls it';

-- The processes that clean up such a target: seen within a day, because one may come
-- from cron, or with a cleanup in hand.
create function pgjobs._cleaners_of(node_id text, target jsonb, now timestamptz)
returns table (holder text, seen_at timestamptz)
language sql stable
as $$
select c.holder, c.seen_at
from pgjobs.cleaners as c
where (c.node_id = _cleaners_of.node_id or (c.node_id is null and pgjobs._hub_cleans(_cleaners_of.node_id, _cleaners_of.target)))
  and (
    c.seen_at > _cleaners_of.now - interval '1 day'
    or exists (
      select from pgjobs.leases as l where l.task_id > 0 and l.job_id = pgjobs._cleanup_job() and l.holder = c.holder
    )
  )
$$;

comment on function pgjobs._cleaners_of is
  'Who cleans up for a node. Example: select * from pgjobs._cleaners_of(''agent-7'', ''{"type": "local_dir"}'', pgjobs._now())';

create function pgjobs._cleanup_command(node_id text)
returns text
language sql immutable
return case node_id
  when 'hub' then '-- run: pgjobs serve, or pgjobs cleanup run'
  else format('-- on that machine: pgjobs cleanup run --node %s', node_id)
end;

comment on function pgjobs._cleanup_command is
  'What to run where nobody cleans up for a node. Example: select pgjobs._cleanup_command(''agent-7'')';

-- How many cleanups wait for somebody: blocked or abandoned. By index, however many there are
-- of others.
create function pgjobs._cleanups_in_need(out blocked bigint, out abandoned bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job integer := pgjobs._cleanup_job();
begin
  blocked := (
    select count(*) from pgjobs.scheduled as s where s.job_id = v_job and s.error_kind in ('auth', 'config')
  ) + (
    select count(*)
    from pgjobs.ready as r
    where r.job_id = v_job and r.attempt > 0
      and (
        select a.error_kind from pgjobs.attempts as a where a.task_id = r.task_id order by a.id desc limit 1
      ) in ('auth', 'config')
  );
  abandoned := (select count(*) from pgjobs.outcomes as o where o.job_id = v_job and o.status <> 'completed');
end
$$;

comment on function pgjobs._cleanups_in_need is
  'How many cleanups are blocked or abandoned. Example: select * from pgjobs._cleanups_in_need()';

-- Cleanups that are due, by node and type of target, where nobody cleans up.
create function pgjobs._unserved_cleanups(now timestamptz)
returns table (node_id text, target_type text, waiting bigint, oldest_at timestamptz)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job integer := pgjobs._cleanup_job();
begin
  return query
  select w.node_id, w.target_type, w.waiting, w.oldest_at
  from (
    select t.payload ->> 'node_id' as node_id, t.payload -> 'target' ->> 'type' as target_type, count(*) as waiting, min(d.due_at) as oldest_at
    from (
      select r.task_id, r.due_at from pgjobs.ready as r where r.job_id = v_job
      union all
      select s.task_id, s.run_at from pgjobs.scheduled as s where s.job_id = v_job and s.run_at <= _unserved_cleanups.now
    ) as d
    join pgjobs.tasks as t on t.id = d.task_id
    group by 1, 2
  ) as w
  where not exists (
    select from pgjobs._cleaners_of(w.node_id, jsonb_build_object('type', w.target_type), _unserved_cleanups.now)
  );
end
$$;

comment on function pgjobs._unserved_cleanups is
  'Due cleanups of nodes that nobody cleans up for. Example: select * from pgjobs._unserved_cleanups(pgjobs._now())';

-- What is wrong with cleanups: what nobody does, and what waits for an operator.
create function pgjobs._troubles_of_cleanups(now timestamptz)
returns table (severity text, subject text, message text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if pgjobs._cleanup_job() is null then
    return;
  end if;
  return query
  select
    'warning', 'cleanup of node ' || u.node_id,
    format('%s (%s), the oldest for %s, and no process cleans up for this node',
      case u.waiting when 1 then '1 cleanup waits' else u.waiting || ' cleanups wait' end, u.target_type,
      pgjobs._ago(u.oldest_at, _troubles_of_cleanups.now)),
    pgjobs._cleanup_command(u.node_id)
  from pgjobs._unserved_cleanups(_troubles_of_cleanups.now) as u
  where u.oldest_at < _troubles_of_cleanups.now - interval '1 minute'
  union all
  select
    'warning', 'cleanup', format(n.message, case n.quantity when 1 then '1 cleanup is' else n.quantity || ' cleanups are' end),
    format('select run_id, job_name, node_id, last_error from pgjobs.incomplete_cleanup_tasks where status = %L', n.status)
  from pgjobs._cleanups_in_need() as c
  cross join lateral (values
    ('blocked', c.blocked, '%s blocked: credentials or configuration are wrong'),
    ('abandoned', c.abandoned, '%s abandoned: retry or ignore')
  ) as n (status, quantity, message)
  where n.quantity > 0;
end
$$;

comment on function pgjobs._troubles_of_cleanups is
  'What is wrong with cleanups. Example: select * from pgjobs._troubles_of_cleanups(pgjobs._now())';
