-- Registers a worker, and links it to jobs that exist already. A cluster names the id that
-- the worker has on its other nodes.
create function pgjobs.register_worker(
  name text default null, jobs text[] default null, actor text default null, worker_id uuid default null
)
returns setof pgjobs.workers
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_now timestamptz := pgjobs._now();
  v_worker pgjobs.workers;
begin
  if length(register_worker.name) > 200 then
    perform pgjobs._refuse('validation-error', 'A worker''s name has at most 200 characters');
  end if;
  insert into pgjobs.workers (id, name, owner, registered_at, last_heartbeat_at)
  values (
    coalesce(register_worker.worker_id, gen_random_uuid()), register_worker.name, pgjobs._actor(register_worker.actor), v_now, v_now
  )
  on conflict (id) do nothing
  returning * into v_worker;
  if v_worker is null then
    perform pgjobs._refuse('validation-error', format('Worker %s is registered already', register_worker.worker_id));
  end if;
  perform pgjobs._enter((pgjobs._find_job(j.job)).room) from unnest(register_worker.jobs) as j (job);
  insert into pgjobs.worker_jobs (worker_id, job_id)
  select distinct v_worker.id, (pgjobs._find_job(j.job)).id from unnest(register_worker.jobs) as j (job);
  return next v_worker;
end
$$;

comment on function pgjobs.register_worker is
  'Registers a worker. Example: select id from pgjobs.register_worker(''night shift'', array[''@global:modifiers:Rotate''])';
