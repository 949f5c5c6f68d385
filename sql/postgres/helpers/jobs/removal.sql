-- Some tasks of a job, from whatever room they were submitted: the index over
-- tasks begins with the room, so rooms are walked one after another.
create function pgjobs._some_tasks_of(job_id integer, quantity integer)
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return array(
    with recursive rooms as (
      select (select t.room from pgjobs.tasks as t order by t.room limit 1) as room
      union all
      select (select t.room from pgjobs.tasks as t where t.room > r.room order by t.room limit 1)
      from rooms as r
      where r.room is not null
    )
    select t.id
    from rooms as r
    cross join lateral (
      select k.id
      from pgjobs.tasks as k
      where k.room = r.room and k.job_id = _some_tasks_of.job_id
      order by k.id
      limit _some_tasks_of.quantity
    ) as t
    limit _some_tasks_of.quantity
  );
end
$$;

comment on function pgjobs._some_tasks_of is 'Some tasks of a job. Example: select pgjobs._some_tasks_of(1, 100)';

-- Removes tasks wherever they are, with all that hangs on them.
create function pgjobs._remove_tasks(task_ids bigint[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  delete from pgjobs.leases as l where l.task_id = any (_remove_tasks.task_ids);
  delete from pgjobs.ready as r
  using pgjobs.tasks as t
  where t.id = any (_remove_tasks.task_ids)
    and r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id;
  delete from pgjobs.ready as r where r.task_id = any (_remove_tasks.task_ids) and r.is_again;
  delete from pgjobs.scheduled as s where s.task_id = any (_remove_tasks.task_ids);
  delete from pgjobs.outcomes as o where o.task_id = any (_remove_tasks.task_ids);
  delete from pgjobs.ignored as i where i.task_id = any (_remove_tasks.task_ids);
  delete from pgjobs.attempts as a where a.task_id = any (_remove_tasks.task_ids);
  delete from pgjobs.events as e where e.task_id = any (_remove_tasks.task_ids);
  delete from pgjobs.run_targets as s where s.task_id = any (_remove_tasks.task_ids);
  delete from pgjobs.idempotency_keys as k
  using pgjobs.tasks as t
  where t.id = any (_remove_tasks.task_ids) and t.idempotency_key is not null
    and k.job_id = t.job_id and k.key = t.idempotency_key;
  perform pgjobs._forget_durable(_remove_tasks.task_ids);
  delete from pgjobs.tasks as t where t.id = any (_remove_tasks.task_ids);
end
$$;

comment on function pgjobs._remove_tasks is
  'Removes tasks wherever they are. Example: see pgjobs.delete_job, which chooses them';
