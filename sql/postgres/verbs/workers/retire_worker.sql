-- Takes a worker away: its tasks fail or are retried, its links go, and jobs
-- nobody serves any more are retired. Disconnects and sweeps end here too. With
-- a lost connection named, a worker that has joined by another one is left alone.
create function pgjobs.retire_worker(
  worker_id uuid, actor text default null, is_superuser boolean default false, connection_id uuid default null
)
returns table (failed integer, retried integer, retired_jobs integer)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._find_worker(retire_worker.worker_id, retire_worker.actor, retire_worker.is_superuser);
  -- Locked before it is judged: a join in flight counts.
  perform from pgjobs.workers as w where w.id = retire_worker.worker_id for update;
  if exists (
    select from pgjobs.workers as w
    where w.id = retire_worker.worker_id and w.connection_id <> retire_worker.connection_id
  ) then
    return query select 0, 0, 0;
    return;
  end if;
  return query select c.* from pgjobs._cleanup_worker(retire_worker.worker_id, pgjobs._now()) as c;
end
$$;

comment on function pgjobs.retire_worker is
  'Removes a worker. Example: select * from pgjobs.retire_worker(''<worker id>'')';
