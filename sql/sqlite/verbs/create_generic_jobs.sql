-- create_generic_jobs(
--   domain text, queue text, job_type text, payloads jsonb[], owner_user_id text = null,
--   project_id bigint = null, priority integer = 5, max_retries integer = 3, available_at timestamptz = null,
--   idempotency_keys text[] = null, tags text[] = null, after bigint[] = null, max_queued integer = null,
--   submits_per_minute integer = null
-- )
--
-- Submits one task per payload in the words of the generic job manager and shows them, in input
-- order. An unknown domain:queue:job_type is registered first, unless the domain is @global or @internal.
-- A payload whose idempotency key was used before gets the row of the first, also after it ended.
select refuse('not-on-sqlite', 'SQLite has neither dependencies nor quotas')
where coalesce(:after, :max_queued, :submits_per_minute) is not null;
select refuse('validation-error', 'max_retries must be between 0 and 9999', 'Got ' || :max_retries || '.')
where :max_retries not between 0 and 9999;
select refuse(
  'job-not-found', 'No job type ' || :queue || ':' || :job_type || ' in the domain ' || :domain,
  'Those of everybody and of the server are not registered by their first use.', 'Register it.'
)
where :domain in ('@global', '@internal') and not exists (
  select 1 from jobs as j
  where j.room = :domain and j.category = :queue and j.name = :job_type and j.deleted_at is null
);
-- include check_job_type
select refuse(
  'job-unavailable', 'Job type ' || j.full_name || ' is archived', 'Since ' || iso_time(j.archived_at) || '.', 'Unarchive it.'
)
from jobs as j
where j.room = :domain and j.category = :queue and j.name = :job_type and j.archived_at is not null
  and j.deleted_at is null;
select refuse('validation-error', 'owner_user_id must have at most 200 characters') where length(:owner_user_id) > 200;
-- A known job keeps its schema and policy.
select
  coalesce(max(j.schema), '{}') as v_schema,
  iif(count(*) = 0, 4, null) as v_job_attempts,
  iif(count(*) = 0, true, null) as v_keep,
  :domain || ':' || :queue || ':' || :job_type as v_name,
  :max_retries + 1 as v_attempts,
  cast(:project_id as text) as v_project
from jobs as j
where j.room = :domain and j.category = :queue and j.name = :job_type;
-- call register_job(
--   room => :domain, category => :queue, name => :job_type, schema => :v_schema, max_attempts => :v_job_attempts,
--   keep => :v_keep
-- ) into v_registered
-- call submit_tasks(
--   job => :v_name, payloads => :payloads, room => :domain, priority => :priority, available_at => :available_at,
--   max_attempts => :v_attempts, idempotency_keys => :idempotency_keys, owner => :owner_user_id, project => :v_project, tags => :tags
-- ) into v_submitted
select json_group_array(json_extract(s.value, '$.task_id')) as v_tasks, false as v_is_claimed from json_each(:v_submitted) as s;
-- include show_generic_jobs
