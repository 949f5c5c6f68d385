-- Whether tasks are where they should be.
create function pgjobs._check_places()
returns table (rule text, violations bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  with homes as (
    select r.task_id, r.job_id from pgjobs.ready as r
    union all
    select s.task_id, s.job_id from pgjobs.scheduled as s
    union all
    select l.task_id, l.job_id from pgjobs.leases as l
    union all
    select o.task_id, o.job_id from pgjobs.outcomes as o
    union all
    select i.task_id, i.job_id from pgjobs.ignored as i
  ), counted as (
    select t.id, count(h.task_id) as homes
    from pgjobs.tasks as t
    left join homes as h on h.task_id = t.id
    group by t.id
  )
  select 'a task is in exactly one place', count(*) from counted as c where c.homes <> 1
  union all
  select 'every place holds a task of its job', count(*)
  from homes as h
  left join pgjobs.tasks as t on t.id = h.task_id and t.job_id = h.job_id
  where t.id is null
  union all
  select 'every task has a job', count(*)
  from pgjobs.tasks as t
  where not exists (select from pgjobs.jobs as j where j.id = t.job_id)
  union all
  select 'attempts stay within their limit', count(*)
  from pgjobs.leases as l
  join pgjobs.tasks as t on t.id = l.task_id
  where l.attempt > t.max_attempts
  union all
  select 'outcomes stay within the limit of attempts', count(*)
  from pgjobs.outcomes as o
  join pgjobs.tasks as t on t.id = o.task_id
  where o.attempt > t.max_attempts
  union all
  select 'a task waits in its own lane', count(*)
  from (
    select r.task_id, r.priority, case when not r.is_again then r.due_at end as due_at from pgjobs.ready as r
    union all
    select s.task_id, s.priority, null from pgjobs.scheduled as s
  ) as w
  join pgjobs.tasks as t on t.id = w.task_id
  -- A first entry is due when its task was created: that is how it is found.
  where w.priority <> t.priority or w.due_at <> t.created_at;
end
$$;

comment on function pgjobs._check_places is
  'Counts tasks that are not where they should be. Example: select * from pgjobs._check_places()';

-- Whether what hangs on tasks belongs to them.
create function pgjobs._check_belongings()
returns table (rule text, violations bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select 'history belongs to a task', count(*)
  from pgjobs.attempts as a
  where not exists (select from pgjobs.tasks as t where t.id = a.task_id)
  union all
  select 'a token is issued once', count(*) - count(distinct u.token)
  from (
    select l.token from pgjobs.leases as l
    union all
    select o.token from pgjobs.outcomes as o where o.token is not null
    union all
    select a.token from pgjobs.attempts as a where a.token is not null
  ) as u
  union all
  select 'a lane is known before it is used', count(*)
  from (select distinct r.job_id, r.priority from pgjobs.ready as r) as r
  where not exists (select from pgjobs.lanes as l where l.job_id = r.job_id and l.priority = r.priority)
  union all
  select 'an idempotency key leads to its task', count(*)
  from pgjobs.idempotency_keys as k
  left join pgjobs.tasks as t on t.id = k.task_id and t.idempotency_key = k.key
  where t.id is null
  union all
  select 'a task is found by its idempotency key', count(*)
  from pgjobs.tasks as t
  left join pgjobs.idempotency_keys as k on k.job_id = t.job_id and k.key = t.idempotency_key and k.task_id = t.id
  where t.idempotency_key is not null and k.task_id is null;
end
$$;

comment on function pgjobs._check_belongings is
  'Counts rows that belong to no task. Example: select * from pgjobs._check_belongings()';
