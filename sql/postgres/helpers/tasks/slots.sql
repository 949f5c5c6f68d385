-- How many more tasks of a job may be claimed, of those wanted: its limit less what is
-- claimed or running.
--
-- Whoever counts has the job's turn until their transaction ends, so that no two count
-- the same slot; a turn that brings none is given back. Only the first turn of a claim
-- is waited for: two claims that had one each and waited for the other's would never
-- end. Nor is it waited for long, and less than Postgres takes to look for deadlocks:
-- who has it may be at lunch in an open transaction, and there are other jobs. Null if
-- it was not to be had.
create function pgjobs._free_slots(job_id integer, wanted integer, waits boolean)
returns integer
language plpgsql volatile
set lock_timeout = '500ms'
as $$
declare
  v_turn bigint := ('pgjobs.leases'::regclass::oid::bigint << 32) | _free_slots.job_id;
  v_limit integer := (select j.max_running from pgjobs.jobs as j where j.id = _free_slots.job_id);
  v_held bigint := pgjobs._held_slots(_free_slots.job_id);
begin
  if v_held >= v_limit then
    return 0;
  end if;
  -- Whoever had the turn before has committed: only now are their leases seen, and only
  -- by a statement that looks anew.
  if current_setting('transaction_isolation') <> 'read committed' then
    perform pgjobs._refuse('validation-error', 'A job with a limit is claimed from under READ COMMITTED only',
      format('The transaction is %s.', upper(current_setting('transaction_isolation'))), 'Claim in a transaction of its own.');
  end if;
  begin
    if waits then
      perform pg_advisory_xact_lock(v_turn);
    elsif not pg_try_advisory_xact_lock(v_turn) then
      return null;
    end if;
    v_held := pgjobs._held_slots(_free_slots.job_id);
    if v_held >= v_limit then
      -- What is undone is the lock.
      raise no_data_found;
    end if;
  exception
    when lock_not_available then
      return null;
    when no_data_found then
      return 0;
  end;
  return coalesce(least(wanted, v_limit - v_held), wanted);
end
$$;

comment on function pgjobs._free_slots is
  'How many more tasks of a limited job may be claimed. Example: see pgjobs.claim_tasks, which asks it';

create function pgjobs._held_slots(job_id integer)
returns bigint
language plpgsql volatile
as $$
begin
  return (select count(*) from pgjobs.leases as l where l.job_id = _held_slots.job_id and l.is_limited);
end
$$;

comment on function pgjobs._held_slots is
  'How many tasks of a limited job are claimed or running. Example: select pgjobs._held_slots(1)';

-- Counts leases that began before their job had a limit, or while it got one.
create function pgjobs._count_unlimited()
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if exists (select from pgjobs.jobs as j where j.max_running is not null or j.is_capped) then
    update pgjobs.leases as l
    set is_limited = true
    where not l.is_limited
      and l.ctid = any (array(
        select c.ctid
        from pgjobs.leases as c
        join pgjobs.jobs as j on j.id = c.job_id and (j.max_running is not null or j.is_capped)
        where not c.is_limited
        order by c.task_id
        for update of c skip locked
      ));
  end if;
end
$$;

comment on function pgjobs._count_unlimited is
  'Counts leases that began before their job had a limit. Example: select pgjobs._count_unlimited()';

-- Wakes whoever waits for a slot of these jobs, each named as often as one came free.
-- Endings do so by themselves; attempts that are followed by another have no ending.
create function pgjobs._wake_for_slots(job_ids integer[])
returns void
language plpgsql volatile
as $$
begin
  perform pgjobs._wake(j.id, count(*))
  from unnest(_wake_for_slots.job_ids) as f (job_id)
  join pgjobs.jobs as j on j.id = f.job_id and (j.max_running is not null or j.is_capped)
  group by j.id;
end
$$;

comment on function pgjobs._wake_for_slots is
  'Wakes workers that wait for a slot of a limited job. Example: select pgjobs._wake_for_slots(array[1])';
