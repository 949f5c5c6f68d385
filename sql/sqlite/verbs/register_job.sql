-- register_job(
--   room text, category text, name text, schema jsonb = '{}', worker_id uuid = null,
--   create_worker boolean = false, max_attempts integer = null, backoff_base interval = null,
--   backoff_cap interval = null, jitter_share real = null, jitter_cap interval = null,
--   max_age interval = null, max_running integer = null, events text = null,
--   retain_completed interval = null, retain_failed interval = null, replace_schema boolean = false,
--   keep boolean = null, actor text = null,
--   is_superuser boolean = false, max_running_per_key integer = null, rate text = null,
--   rate_per_key text = null, fair boolean = null, ordered boolean = null, on_failure text = null,
--   job_number integer = null, job_uuid uuid = null
-- )
--
-- Registers a job, or says how the one at this address already stands:
-- `registered` is created, reactivated (it had been retired) or unchanged.
--
-- The schema must equal the registered one, unless `replace_schema` is set or
-- the job comes back from retirement. Options left out keep their value. With a
-- worker named or created, the job is linked to it. One to `keep` is not retired
-- when its last worker leaves.
select refuse('not-on-sqlite', 'Sharing by key is not on SQLite')
where coalesce(:max_running_per_key, :rate, :rate_per_key, :fair, :ordered, :on_failure) is not null;
select refuse('not-on-sqlite', 'SQLite has no clusters') where coalesce(:job_number, :job_uuid) is not null;
select :room as v_room;
-- include check_room
select refuse('validation-error', 'A job''s name has 1 to 200 characters')
where :name = '' or length(:name) > 200;
select refuse('forbidden', 'Only a superuser may register jobs in ' || :room)
where :actor is not null and not :is_superuser and :room in ('@global', '@internal');
select refuse('validation-error', 'max_attempts must be between 1 and 10000', 'Got ' || :max_attempts || '.')
where :max_attempts not between 1 and 10000;
select refuse(
  'validation-error', 'max_running must be between 1 and 1000000', 'Got ' || :max_running || '.',
  'To let none run, pause the job.'
)
where :max_running not between 1 and 1000000;
select refuse('validation-error', 'events must be failures or full', 'Got ' || :events || '.')
where :events not in ('failures', 'full');
-- include check_registration
select coalesce(
  (
    select iif(j.deleted_at is not null, 'reactivated', 'unchanged')
    from jobs as j
    where j.room = :room and j.category = :category and j.name = :name
  ),
  'created'
) as v_registered;
select refuse(
  'schema-conflict', 'Job ' || j.full_name || ' is registered with another schema', null,
  'Register under another name, or with replace_schema.'
)
from jobs as j
where j.room = :room and j.category = :category and j.name = :name
  and :v_registered = 'unchanged' and not :replace_schema and not is_same_json(j.schema, :schema);
insert into jobs (uuid, room, category, name, schema, created_at)
values (uuid4(), :room, :category, :name, :schema, now())
on conflict (room, category, name) do nothing;
update jobs
set
  schema = :schema,
  max_attempts = coalesce(:max_attempts, max_attempts),
  backoff_base = coalesce(:backoff_base, backoff_base),
  backoff_cap = coalesce(:backoff_cap, max(backoff_cap, coalesce(:backoff_base, 0))),
  jitter_share = coalesce(:jitter_share, jitter_share),
  jitter_cap = coalesce(:jitter_cap, jitter_cap),
  max_age = coalesce(:max_age, max_age),
  max_running = coalesce(:max_running, max_running),
  events = coalesce(:events, events),
  retain_completed = coalesce(:retain_completed, retain_completed),
  retain_failed = coalesce(:retain_failed, retain_failed),
  keep = coalesce(:keep, keep),
  deleted_at = null
where room = :room and category = :category and name = :name;
select j.id as v_job from jobs as j where j.room = :room and j.category = :category and j.name = :name;
select coalesce(:worker_id, iif(:create_worker, uuid4(), null)) as v_worker;
insert into workers (id, owner, registered_at, last_heartbeat_at)
select :v_worker, :actor, now(), now()
where :worker_id is null and :v_worker is not null;
insert into worker_jobs (worker_id, job_id)
select :v_worker, :v_job
where :v_worker is not null
on conflict do nothing;
insert into lanes (job_id, priority) values (:v_job, 5) on conflict do nothing;
select :v_job as job_id, :v_registered as registered, :v_worker as linked_worker_id;
