-- Says that a cleaner has nothing to do: whoever makes a cleanup task due sends
-- NOTIFY pgjobs._wake with the mark's id, and so does the first that ever needs one, or
-- who resumes the job. Also tells how long it is until the next one of the node (see
-- claim_cleanups) is due by itself. A previous mark is taken back.
create function pgjobs.await_cleanups(node_id text default null, previous bigint default null)
returns table (mark bigint, due_in interval)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job integer := pgjobs._cleanup_job();
  v_is_open boolean := (
    select j.paused_at is null and j.archived_at is null from pgjobs.jobs as j where j.id = v_job
  );
begin
  delete from pgjobs.waiting_marks as w where w.id = await_cleanups.previous;
  -- No job has the number 0: it stands for one that is not registered yet.
  insert into pgjobs.waiting_marks (job_ids, since) values (array[coalesce(v_job, 0)], pgjobs._now()) returning id into mark;
  due_in := (
    select case when min(d.due_at) is not null then greatest(pgjobs._known_moment(min(d.due_at)) - pgjobs._now(), interval '0') end
    from (
      select r.due_at, r.task_id from pgjobs.ready as r where r.job_id = v_job
      union all
      select s.run_at, s.task_id from pgjobs.scheduled as s where s.job_id = v_job
    ) as d (due_at, task_id)
    join pgjobs.tasks as t on t.id = d.task_id
    where v_is_open
      and case when await_cleanups.node_id is null then t.owner = 'hub' else t.project = await_cleanups.node_id end
  );
  return next;
end
$$;

comment on function pgjobs.await_cleanups is
  'Asks for a wake-up when a cleanup is due. Example: listen "pgjobs.wake"; select * from pgjobs.await_cleanups()';
