-- Whether jobs that share by key keep their promises.
create function pgjobs._check_sharing()
returns table (rule text, violations bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select 'a key that may run a task has a turn', count(*)
  from pgjobs.sharing as s
  cross join lateral pgjobs._waiting_keys(s.job_id, null) as k
  where pgjobs._key_can_run(s, k.key)
    and not exists (select from pgjobs.key_turns as t where t.job_id = s.job_id and t.key = k.key)
    and not exists (select from pgjobs.key_rests as r where r.job_id = s.job_id and r.key = k.key)
  union all
  select 'a job that shares has a policy', count(*)
  from pgjobs.jobs as j
  full join pgjobs.sharing as s on s.job_id = j.id
  where coalesce(j.is_shared, false) <> (s.job_id is not null)
  union all
  select 'a task waits under its own key', count(*)
  from (
    select r.task_id, r.key from pgjobs.ready as r where r.key is not null
    union all
    select w.task_id, w.key from pgjobs.scheduled as w where w.key is not null
    union all
    select l.task_id, l.key from pgjobs.leases as l where l.key is not null
  ) as p
  join pgjobs.tasks as t on t.id = p.task_id
  where p.key <> coalesce(t.key, '');
end
$$;

comment on function pgjobs._check_sharing is
  'Counts keys that are forgotten. Example: select * from pgjobs._check_sharing()';
