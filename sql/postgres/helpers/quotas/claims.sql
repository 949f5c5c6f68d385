-- Whose tasks may not be claimed now, as room:owner: those who have as many claimed or running
-- as their quota says. Counted from leases, those of all jobs that a quota may concern.
create function pgjobs._capped_owners()
returns text[]
language plpgsql volatile
as $$
begin
  return array(
    select c.room || ':' || c.owner
    from (
      select t.room, coalesce(t.owner, '') as owner, count(*) as running
      from pgjobs.jobs as j
      join pgjobs.leases as l on l.job_id = j.id and l.is_limited
      join pgjobs.tasks as t on t.id = l.task_id
      where j.is_capped
      group by t.room, coalesce(t.owner, '')
    ) as c
    cross join lateral pgjobs._quota_of(c.room, c.owner) as q
    where c.running >= q.max_running
  );
end
$$;

comment on function pgjobs._capped_owners is
  'Whose quota of running tasks is used up, as room:owner. Example: select pgjobs._capped_owners()';

-- Leases tasks of one job that a quota may concern, one after the other, passing by those of
-- owners who have as many as they may. Such claims take turns, all of them: an owner's tasks
-- are of many jobs.
create function pgjobs._claim_within_quotas(
  job_id integer, wanted integer, worker_id uuid, holder text, until timestamptz, start boolean, now timestamptz,
  of_owner text, of_project text, waits boolean
)
returns bigint[]
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_lock constant bigint := hashtextextended('pgjobs.quotas', 7);
  v_job pgjobs.jobs := (select j from pgjobs.jobs as j where j.id = _claim_within_quotas.job_id);
  v_taken bigint[] := '{}';
  v_full text[];
  v_next bigint[];
begin
  if (waits and not pgjobs._lock_soon(v_lock)) or (not waits and not pg_try_advisory_xact_lock(v_lock)) then
    return v_taken;
  end if;
  for v_turn in 1..least(_claim_within_quotas.wanted, pgjobs._most_keys()) loop
    v_full := pgjobs._capped_owners();
    if v_job.is_shared then
      v_next := pgjobs._claim_by_key(
        v_job.id, 1, worker_id, holder, until, start, _claim_within_quotas.now, of_owner, of_project, waits, v_full
      );
    elsif v_job.max_running is null or coalesce(pgjobs._free_slots(v_job.id, 1, waits), 0) > 0 then
      v_next := pgjobs._claim_uncapped(
        v_job.id, worker_id, holder, until, start, _claim_within_quotas.now, of_owner, of_project, v_full
      );
    else
      v_next := '{}';
    end if;
    exit when v_next = '{}';
    v_taken := v_taken || v_next;
  end loop;
  return v_taken;
end
$$;

comment on function pgjobs._claim_within_quotas is
  'Leases tasks of owners who may have more of them running. Example: see pgjobs.claim_tasks, which calls it';

-- Leases the best task of a job that is not of these owners.
create function pgjobs._claim_uncapped(
  job_id integer, worker_id uuid, holder text, until timestamptz, start boolean, now timestamptz, of_owner text,
  of_project text, not_of text[]
)
returns bigint[]
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_luck text := pgjobs._token_seed();
  v_aging interval := (select s.aging from pgjobs.settings as s);
  v_tasks bigint[];
begin
  with heads as materialized (
    select h.*, h.due_at + l.priority * v_aging as rank
    from (
      select distinct a.priority from pgjobs.lanes as a where a.job_id = _claim_uncapped.job_id
    ) as l
    cross join lateral (
      select r.ctid as line, r.priority, r.due_at, r.task_id, r.attempt
      from pgjobs.ready as r
      join pgjobs.tasks as t on t.id = r.task_id
      where r.job_id = _claim_uncapped.job_id and r.priority = l.priority
        and (t.room || ':' || coalesce(t.owner, '')) <> all (_claim_uncapped.not_of)
        and (_claim_uncapped.of_owner is null or t.owner = _claim_uncapped.of_owner)
        and (_claim_uncapped.of_project is null or t.project = _claim_uncapped.of_project)
      order by r.due_at, r.task_id
      limit 1
      for update of r skip locked
    ) as h
  ), best as materialized (
    select h.* from heads as h order by h.rank, h.priority, h.due_at, h.task_id limit 1
  ), gone as (
    delete from pgjobs.ready as r where r.ctid = any (array(select b.line from best as b))
  ), leased as (
    insert into pgjobs.leases (
      task_id, job_id, token, worker_id, holder, attempt, due_at, claimed_at, until, started_at, is_limited
    )
    select
      b.task_id, _claim_uncapped.job_id, pgjobs._token_of(v_luck, b.task_id), _claim_uncapped.worker_id,
      _claim_uncapped.holder, b.attempt + 1, b.due_at, _claim_uncapped.now, _claim_uncapped.until,
      case when _claim_uncapped.start then _claim_uncapped.now end, true
    from best as b
    returning task_id
  )
  select array_agg(l.task_id) into v_tasks from leased as l;
  return coalesce(v_tasks, '{}');
end
$$;

comment on function pgjobs._claim_uncapped is
  'Leases the best task of owners who may have more. Example: see pgjobs.claim_tasks, which calls it';
