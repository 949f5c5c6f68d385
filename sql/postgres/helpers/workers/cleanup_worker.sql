-- The one cleanup that DELETE, a lost connection and the sweep share.
--
-- Lock order: the worker's row first, then its leases by task. Whoever comes
-- second finds no worker and nothing to do.
create function pgjobs._cleanup_worker(worker_id uuid, now timestamptz)
returns table (failed integer, retried integer, retired_jobs integer)
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_held tid[];
  v_jobs integer[];
begin
  perform from pgjobs.workers as w where w.id = _cleanup_worker.worker_id for update;
  if not found then
    return query select 0, 0, 0;
    return;
  end if;
  v_held := array(
    select l.ctid from pgjobs.leases as l where l.worker_id = _cleanup_worker.worker_id order by l.task_id for update
  );
  select
    count(*) filter (where e.status <> 'pending'),
    count(*) filter (where e.status = 'pending')
  into failed, retried
  from pgjobs._end_attempts(
    v_held, null, array['Worker disconnected'], array['worker_disconnected'], null, _cleanup_worker.now
  ) as e;
  v_jobs := array(select w.job_id from pgjobs.worker_jobs as w where w.worker_id = _cleanup_worker.worker_id);
  delete from pgjobs.workers as w where w.id = _cleanup_worker.worker_id;
  retired_jobs := pgjobs._retire_orphans(v_jobs, _cleanup_worker.now);
  return next;
end
$$;

comment on function pgjobs._cleanup_worker is
  'Removes a worker with its leases, links and providers. Example: see pgjobs.retire_worker, which checks the caller first';
