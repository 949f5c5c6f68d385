-- Says that a worker has nothing to do: the next submit of one of its jobs sends
-- NOTIFY pgjobs._wake with the mark's id. Also tells when the next task is due,
-- so that the worker can sleep until then. A previous mark is taken back.
--
-- `has_blocked`: some task waits for another to end. An acknowledgement that commits after the
-- mark may have looked for marks before it, so whoever acknowledges claims once more after that.
--
-- A submit that commits between the claim and the mark wakes nobody: claim once
-- more after marking, and poll now and then all the same.
create function pgjobs.mark_waiting(
  worker_id uuid default null,
  job_ids integer[] default null,
  in_room text default null,
  in_category text default null,
  previous bigint default null,
  remote boolean default false
)
returns table (mark bigint, next_due_at timestamptz, has_blocked boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_claimable record := pgjobs._claimable_jobs(
    mark_waiting.worker_id, mark_waiting.job_ids, mark_waiting.in_room, mark_waiting.in_category, mark_waiting.remote
  );
  v_jobs integer[] := v_claimable.jobs || v_claimable.shared;
begin
  delete from pgjobs.waiting_marks as w
  where w.id = mark_waiting.previous and (w.job_ids <@ v_jobs or not pgjobs._is_tenant());
  insert into pgjobs.waiting_marks (job_ids, since) values (v_jobs, v_now) returning id into mark;
  next_due_at := (
    select min(s.run_at)
    from (select c.run_at, c.job_id from pgjobs.scheduled as c order by c.run_at limit 1000) as s
    where s.job_id = any (v_jobs) and s.run_at < pgjobs._never()
  );
  if v_claimable.shared is not null then
    next_due_at := least(next_due_at, pgjobs._next_resume(v_claimable.shared));
  end if;
  has_blocked := pgjobs._are_dependencies_used() and exists (
    select from pgjobs.scheduled as s where s.blocked_by is not null and s.waits_for <> 'held'
  );
  return next;
end
$$;

comment on function pgjobs.mark_waiting is
  'Asks for a wake-up. Example: listen "pgjobs.wake"; select * from pgjobs.mark_waiting(job_ids => array[1])';
