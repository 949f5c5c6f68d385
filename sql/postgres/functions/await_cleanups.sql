-- Says that a cleaner has nothing to do: whoever makes a clean-up task due sends
-- NOTIFY pgjobs.wake with the mark's id. Also tells how long it is until the next
-- one is due by itself. A previous mark is taken back.
create function pgjobs.await_cleanups(node_id text default null, previous bigint default null)
returns table (mark bigint, due_in interval)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job integer := (
    select j.id from pgjobs.jobs as j
    where j.id = pgjobs.cleanup_job() and j.paused_at is null and j.archived_at is null
  );
begin
  mark := (
    select m.mark from pgjobs.mark_waiting(job_ids => array[v_job], previous => await_cleanups.previous) as m
    where v_job is not null
  );
  due_in := (
    select case when min(d.due_at) is not null then greatest(pgjobs._known_moment(min(d.due_at)) - pgjobs.now(), interval '0') end
    from (
      select r.due_at, r.task_id from pgjobs.ready as r where r.job_id = v_job
      union all
      select s.run_at, s.task_id from pgjobs.scheduled as s where s.job_id = v_job
    ) as d (due_at, task_id)
    where await_cleanups.node_id is null
      or (select t.project from pgjobs.tasks as t where t.id = d.task_id) = await_cleanups.node_id
  );
  return next;
end
$$;

comment on function pgjobs.await_cleanups is
  'Asks a cleaner to be woken. Example: listen "pgjobs.wake"; select * from pgjobs.await_cleanups()';
