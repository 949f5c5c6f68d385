-- How many more tasks of a job may be claimed, of those wanted: its limit less what is
-- claimed or running.
--
-- Whoever counts has the job's turn until their transaction ends, so that no two count
-- the same slot. Only the first turn of a claim is waited for: two claims that had
-- one each and waited for the other's would never end. Nor is it waited for long: who
-- has it may be at lunch in an open transaction, and there are other jobs.
create function pgjobs.free_slots(job_id integer, wanted integer, waits boolean)
returns integer
language plpgsql volatile
set lock_timeout = '1s'
as $$
declare
  v_turn bigint := ('pgjobs.leases'::regclass::oid::bigint << 32) | free_slots.job_id;
  v_limit integer := (select j.max_running from pgjobs.jobs as j where j.id = free_slots.job_id);
  v_held bigint := pgjobs.held_slots(free_slots.job_id);
begin
  if v_held >= v_limit then
    return 0;
  end if;
  if waits then
    perform pg_advisory_xact_lock(v_turn);
  elsif not pg_try_advisory_xact_lock(v_turn) then
    return 0;
  end if;
  -- Whoever had the turn before has committed: only now are their leases seen.
  v_held := pgjobs.held_slots(free_slots.job_id);
  return coalesce(greatest(least(wanted, v_limit - v_held), 0), wanted);
exception when lock_not_available then
  return 0;
end
$$;

comment on function pgjobs.free_slots is
  'How many more tasks of a limited job may be claimed. Example: see pgjobs.claim_tasks, which asks it';

create function pgjobs.held_slots(job_id integer)
returns bigint
language plpgsql volatile
as $$
begin
  return (select count(*) from pgjobs.leases as l where l.job_id = held_slots.job_id and l.is_limited);
end
$$;

comment on function pgjobs.held_slots is
  'How many tasks of a limited job are claimed or running. Example: select pgjobs.held_slots(1)';

-- Counts leases that began before their job had a limit, or while it got one.
create function pgjobs.count_unlimited()
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if exists (select from pgjobs.jobs as j where j.max_running is not null) then
    update pgjobs.leases as l
    set is_limited = true
    where not l.is_limited
      and l.ctid = any (array(
        select c.ctid
        from pgjobs.leases as c
        join pgjobs.jobs as j on j.id = c.job_id and j.max_running is not null
        where not c.is_limited
        order by c.task_id
        for update of c skip locked
      ));
  end if;
end
$$;

comment on function pgjobs.count_unlimited is
  'Counts leases that began before their job had a limit. Example: select pgjobs.count_unlimited()';

-- Wakes whoever waits for a slot: some came free. Endings do so by themselves, for
-- their own jobs; attempts that are followed by another have no ending.
create function pgjobs.wake_for_slots()
returns void
language plpgsql volatile
as $$
begin
  perform pgjobs.wake(j.id, 10) from pgjobs.jobs as j where j.max_running is not null;
end
$$;

comment on function pgjobs.wake_for_slots is
  'Wakes whoever waits for a slot of a limited job. Example: select pgjobs.wake_for_slots()';
