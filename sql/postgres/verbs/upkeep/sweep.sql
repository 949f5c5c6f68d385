-- One pass of upkeep, or one step of it. Safe from many processes at once: each
-- step takes a bounded batch and passes by what others hold. A step that fails
-- is reported in `error` and changes nothing; the others go on. A `worker_timeout` or
-- an `internal_timeout` stands in for that of the settings.
create function pgjobs.sweep(
  step text default null,
  batch integer default 1000,
  worker_timeout interval default null,
  internal_timeout interval default null
)
returns table (swept text, changed integer, error text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_now timestamptz := pgjobs._now();
  v_steps text[] := array['leases', 'workers', 'internal', 'schedules', 'scheduled', 'waits', 'sharing', 'reads', 'rollups', 'errors', 'retention', 'storage'];
begin
  if sweep.step <> all (v_steps) or batch is null or batch not between 1 and 100000 then
    perform pgjobs._refuse('validation-error', 'Unknown step, or batch not between 1 and 100000',
      null, 'Steps: ' || array_to_string(v_steps, ', '));
  end if;
  if least(sweep.worker_timeout, sweep.internal_timeout) <= interval '0' then
    perform pgjobs._refuse('validation-error', 'Timeouts must be longer than zero');
  end if;
  foreach swept in array case when sweep.step is null then v_steps else array[sweep.step] end loop
    error := null;
    begin
      changed := case swept
        when 'leases' then pgjobs._sweep_leases(v_now, batch)
        when 'workers' then pgjobs._sweep_workers(v_now, batch, sweep.worker_timeout)
        when 'internal' then pgjobs._sweep_internal(v_now, batch, sweep.internal_timeout)
        when 'schedules' then (select f.fired + f.skipped from pgjobs.fire_schedules(least(batch, 10000)) as f)
        when 'scheduled' then pgjobs._promote_due(v_now, batch)
        when 'waits' then pgjobs._sweep_waits(v_now, batch)
        when 'sharing' then pgjobs._sweep_sharing(v_now, batch)
        when 'reads' then pgjobs._sweep_reads(v_now, batch)
        -- One batch size for all steps: to count costs a hundredth of a lease.
        when 'rollups' then pgjobs._sweep_rollups(v_now, batch * 100)
        when 'errors' then pgjobs._sweep_errors(v_now, batch * 100)
        when 'retention' then pgjobs._sweep_retention(v_now, batch)
        -- The last: its locks are kept until the transaction ends.
        when 'storage' then pgjobs._sweep_storage()
      end;
    exception when others then
      changed := 0;
      error := sqlerrm;
    end;
    return next;
  end loop;
end
$$;

comment on function pgjobs.sweep is 'One pass of upkeep. Example: select * from pgjobs.sweep()';
