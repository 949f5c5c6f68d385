-- How many attempts of a task in a row, before its present one, ended with one of these kinds
-- of error. Attempts that never began say nothing; a life that began anew counts anew.
create function pgjobs._same_ends(task_id bigint, attempt integer, kinds text[], most integer)
returns integer
language plpgsql stable
as $$
declare
  v_count integer;
begin
  with recent as materialized (
    select a.id, a.error_kind, a.started_at
    from pgjobs.attempts as a
    where a.task_id = _same_ends.task_id
    order by a.id desc
    limit least(_same_ends.most, _same_ends.attempt - 1)
  )
  select count(*) filter (where r.started_at is not null) into v_count
  from recent as r
  where r.id > coalesce((select max(o.id) from recent as o where o.error_kind is null or o.error_kind <> all (_same_ends.kinds)), 0);
  return v_count;
end
$$;

comment on function pgjobs._same_ends is
  'How many attempts in a row ended with the same error. Example: select pgjobs._same_ends(42, 3, array[''lease_expired''], 10)';

-- Which of these leases end an attempt too many: their task is quarantined rather than retried.
--
-- That is a task whose worker was lost while it ran, as often in a row as settings or its job
-- say; or, where its job or `same_error` says how often, one that failed with the same kind of
-- error. Of tasks that one worker lost together it is only the one that was lost most often:
-- with two of them nobody can tell which took the worker down, and both are retried, apart.
create function pgjobs._poisoned(held tid[], tokens uuid[], kinds text[], same_error integer)
returns bigint[]
language plpgsql stable
as $$
declare
  v_lost constant text[] := array['lease_expired', 'worker_disconnected'];
  v_most integer := (select s.quarantine_after from pgjobs.settings as s);
begin
  return array(
    with ending as materialized (
      select
        l.task_id, l.attempt, coalesce(l.worker_id::text, l.holder) as who, coalesce(k.kind = any (v_lost), false) as is_lost, k.kind,
        case
          when k.kind = any (v_lost) then coalesce(j.quarantine_after, v_most)
          when j.quarantine_after is not null then j.quarantine_after
          else _poisoned.same_error
        end as most
      from pgjobs.leases as l
      join pgjobs.jobs as j on j.id = l.job_id
      cross join lateral (
        select _poisoned.kinds[
          case when cardinality(_poisoned.kinds) > 1 then array_position(_poisoned.tokens, l.token) else 1 end
        ] as kind
      ) as k
      where l.ctid = any (_poisoned.held) and l.cancel_requested_at is null and k.kind is not null
        and (l.started_at is not null or k.kind <> all (v_lost))
    ), counted as (
      select
        e.*,
        1 + pgjobs._same_ends(
          e.task_id, e.attempt, case when e.is_lost then v_lost else array[e.kind] end, greatest(e.most, v_most, 1)
        ) as quantity
      from ending as e
    ), judged as (
      select
        c.*, max(c.quantity) over (partition by c.who, c.is_lost) as worst,
        count(*) over (partition by c.who, c.is_lost, c.quantity) as alike
      from counted as c
    )
    select j.task_id
    from judged as j
    where j.most > 0 and j.quantity >= j.most and (not j.is_lost or (j.quantity = j.worst and j.alike = 1))
  );
end
$$;

comment on function pgjobs._poisoned is
  'Leases whose tasks are to be quarantined. Example: see pgjobs.fail_tasks and pgjobs.sweep, which end them';

-- Tells of tasks that were quarantined, once each.
create function pgjobs._tell_quarantined(task_ids bigint[], now timestamptz)
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, message)
  select _tell_quarantined.now, 'quarantined', t.id, t.job_id, t.room, 'ignored', i.reason
  from pgjobs.ignored as i
  join pgjobs.tasks as t on t.id = i.task_id
  where i.task_id = any (_tell_quarantined.task_ids) and i.is_quarantined
  order by t.id;
end
$$;

comment on function pgjobs._tell_quarantined is
  'Tells of tasks that were quarantined. Example: see pgjobs.sweep, which ends lapsed leases';

-- Tasks in quarantine, by job.
create function pgjobs._troubles_of_quarantine(now timestamptz)
returns table (severity text, subject text, message text, advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select
    'warning', 'job ' || j.full_name,
    format('%s, the last %s ago: task %s, %s', case q.quantity when 1 then '1 task is in quarantine' else q.quantity || ' tasks are in quarantine' end,
      pgjobs._ago(l.ignored_at, now), l.task_id, l.reason),
    format('select * from pgjobs.unignore_task(%s)', l.task_id)
  from (
    select i.job_id, count(*) as quantity from pgjobs.ignored as i where i.is_quarantined group by i.job_id
  ) as q
  join pgjobs.jobs as j on j.id = q.job_id
  cross join lateral (
    select i.task_id, i.ignored_at, i.reason from pgjobs.ignored as i
    where i.job_id = q.job_id and i.is_quarantined
    order by i.ignored_at desc, i.task_id desc
    limit 1
  ) as l;
end
$$;

comment on function pgjobs._troubles_of_quarantine is
  'Tasks in quarantine. Example: select * from pgjobs._troubles_of_quarantine(pgjobs._now())';

-- Whether attempts that end like this could be the last before quarantine: a short look for the others.
create function pgjobs._may_be_poison(kind text, same_error integer)
returns boolean
language plpgsql stable
as $$
begin
  return kind in ('lease_expired', 'worker_disconnected') or same_error is not null
    or exists (select from pgjobs.jobs as j where j.quarantine_after is not null);
end
$$;

comment on function pgjobs._may_be_poison is
  'Whether to count how attempts ended. Example: select pgjobs._may_be_poison(''network'', null)';

create function pgjobs._why_poison(kind text)
returns text
language sql immutable
return case
  when kind in ('lease_expired', 'worker_disconnected') then 'Its attempts took their workers down'
  else left('Its attempts failed with ' || kind, 200)
end;

comment on function pgjobs._why_poison is
  'Why a task is quarantined. Example: select pgjobs._why_poison(''lease_expired'')';
