-- Registers a job, or says how the one at this address already stands:
-- `registered` is created, reactivated (it had been retired) or unchanged.
--
-- The schema must equal the registered one, unless `replace_schema` is set or
-- the job comes back from retirement. Options left out keep their value. With a
-- worker named or created, the job is linked to it. One to `keep` is not retired
-- when its last worker leaves. A cluster names the number and public id that the job has
-- on its other nodes; one that exists must have them.
create function pgjobs.register_job(
  room text,
  category text,
  name text,
  schema jsonb default '{}',
  worker_id uuid default null,
  create_worker boolean default false,
  max_attempts integer default null,
  backoff_base interval default null,
  backoff_cap interval default null,
  jitter_share real default null,
  jitter_cap interval default null,
  max_age interval default null,
  max_running integer default null,
  events text default null,
  retain_completed interval default null,
  retain_failed interval default null,
  replace_schema boolean default false,
  keep boolean default null,
  actor text default null,
  is_superuser boolean default false,
  max_running_per_key integer default null,
  rate text default null,
  rate_per_key text default null,
  fair boolean default null,
  ordered boolean default null,
  on_failure text default null,
  job_number integer default null,
  job_uuid uuid default null
)
returns table (job_id integer, registered text, linked_worker_id uuid)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_actor text := pgjobs._actor(register_job.actor);
  v_now timestamptz := pgjobs._now();
  v_job pgjobs.jobs;
  v_is_new boolean;
begin
  if num_nonnulls(register_job.job_number, register_job.job_uuid) = 1 or register_job.job_number < 1 then
    perform pgjobs._refuse('validation-error', 'job_number and job_uuid go together, and numbers begin at 1');
  end if;
  perform pgjobs._check_registration(
    register_job.room, register_job.category, register_job.name, register_job.schema, register_job.max_attempts,
    register_job.max_running, register_job.events, v_actor, register_job.is_superuser and not pgjobs._is_tenant()
  );
  linked_worker_id := register_job.worker_id;
  if linked_worker_id is not null and not exists (
    select from pgjobs.workers as w
    where w.id = linked_worker_id and w.owner is not distinct from coalesce(v_actor, w.owner)
  ) then
    perform pgjobs._refuse('worker-not-found', format('Worker %s does not exist', linked_worker_id));
  end if;
  -- The update locks the row, so that two first registrations see one another.
  insert into pgjobs.jobs as j (id, uuid, room, category, name, schema, created_at)
  overriding system value
  values (
    coalesce(register_job.job_number, nextval('pgjobs.jobs_id_seq')), coalesce(register_job.job_uuid, gen_random_uuid()),
    register_job.room, register_job.category, register_job.name, coalesce(register_job.schema, '{}'), v_now
  )
  on conflict (room, category, name) do update set name = j.name
  returning j.id, j.xmax = 0 into job_id, v_is_new;
  if register_job.job_number is not null then
    perform pgjobs._keep_job_number(register_job.job_id, register_job.job_number, register_job.job_uuid);
  end if;
  select j.* into v_job from pgjobs.jobs as j where j.id = register_job.job_id;
  registered := case
    when v_is_new then 'created'
    when v_job.deleted_at is not null then 'reactivated'
    else 'unchanged'
  end;
  if registered = 'unchanged' and not register_job.replace_schema and v_job.schema <> register_job.schema then
    perform pgjobs._refuse('schema-conflict', format('Job %s is registered with another schema', v_job.full_name),
      null, 'Register under another name, or with replace_schema => true.');
  end if;
  update pgjobs.jobs as j
  set
    schema = coalesce(register_job.schema, j.schema),
    max_attempts = coalesce(register_job.max_attempts, j.max_attempts),
    backoff_base = coalesce(register_job.backoff_base, j.backoff_base),
    backoff_cap = coalesce(register_job.backoff_cap, greatest(j.backoff_cap, register_job.backoff_base)),
    jitter_share = coalesce(register_job.jitter_share, j.jitter_share),
    jitter_cap = coalesce(register_job.jitter_cap, j.jitter_cap),
    max_age = coalesce(register_job.max_age, j.max_age),
    max_running = coalesce(register_job.max_running, j.max_running),
    events = coalesce(register_job.events, j.events),
    retain_completed = coalesce(register_job.retain_completed, j.retain_completed),
    retain_failed = coalesce(register_job.retain_failed, j.retain_failed),
    keep = coalesce(register_job.keep, j.keep),
    deleted_at = null
  where j.id = v_job.id;
  if register_job.max_running <> coalesce(v_job.max_running, 0) then
    perform pgjobs._count_unlimited();
    perform pgjobs._wake(v_job.id, 100);
  end if;
  if pgjobs._share_job(
    v_job.id, register_job.max_running_per_key, register_job.rate, register_job.rate_per_key, register_job.fair,
    register_job.ordered, register_job.on_failure
  ) then
    perform pgjobs._wake(v_job.id, 100);
  end if;
  if register_job.create_worker and linked_worker_id is null then
    linked_worker_id := (select w.id from pgjobs.register_worker(actor => register_job.actor) as w);
  end if;
  if linked_worker_id is not null then
    insert into pgjobs.worker_jobs (worker_id, job_id) values (linked_worker_id, v_job.id) on conflict do nothing;
  end if;
  if v_is_new and exists (select from pgjobs.quotas as q) then
    perform pgjobs._mark_metered();
  end if;
  insert into pgjobs.lanes (job_id, priority)
  select v_job.id, 5 where not exists (select from pgjobs.lanes as l where l.job_id = v_job.id and l.priority = 5);
  return next;
end
$$;

comment on function pgjobs.register_job is
  'Registers a job. Example: select * from pgjobs.register_job(''@global'', ''modifiers'', ''Rotate'', max_attempts => 3)';
