-- submit_tasks(
--   job text, payloads jsonb[], room text = null, priority integer = 5, available_at timestamptz = null,
--   delay interval = null, max_attempts integer = null, idempotency_keys text[] = null,
--   submitter text = null, owner text = null, project text = null, tags text[] = null,
--   require_workers boolean = false, cross_room boolean = false,
--   trace_context text = null, after bigint[] = null, on_failure text = null, keys text[] = null,
--   items integer[] = null
-- )
--
-- Submits one task per payload, all of one job, in the caller's transaction.
--
-- A task whose idempotency key was used before is not submitted again: the
-- answer names the first one, with is_new = false. Rows come in input order, each with the
-- place of its payload, or what `items` calls it.
select refuse('not-on-sqlite', 'SQLite has no tasks that run after others', 'It needs Postgres; the embedded one will do.')
where :after is not null or :on_failure is not null;
select refuse('not-on-sqlite', 'Sharing by key is not on SQLite')
where coalesce(:keys, null) is not null;
select :job as v_address;
-- include find_job
select
  coalesce(:room, j.room) as v_room,
  coalesce(:max_attempts, j.max_attempts) as v_max_attempts,
  coalesce(:available_at, now() + :delay, now()) > now() as v_is_later,
  coalesce(:available_at, now() + :delay, now()) as v_due_at,
  coalesce((select s.seq from sqlite_sequence as s where s.name = 'tasks'), 0) as v_last_id
from jobs as j
where j.id = :v_job;
-- include check_room
select refuse('job-not-found', 'Job ' || j.full_name || ' does not exist', 'It was retired.')
from jobs as j
where j.id = :v_job and j.deleted_at is not null;
select refuse(
  'job-not-found',
  'Job ''' || j.full_name || ''' is not accessible from room ''' || :v_room || '''',
  'It belongs to another room.'
)
from jobs as j
where j.id = :v_job and j.room not in ('@global', '@internal', :v_room) and not :cross_room;
select refuse('job-unavailable', 'Job ' || j.full_name || ' is archived', 'Since ' || iso_time(j.archived_at) || '.', 'Unarchive it.')
from jobs as j
where j.id = :v_job and j.archived_at is not null;
select refuse('validation-error', 'payloads must be an array of at most 10000 JSON documents, none null')
where json_array_length(:payloads) > 10000 or exists (select 1 from json_each(:payloads) as p where p.value is null);
select refuse('validation-error', 'priority must be between 1 and 10', 'Got ' || :priority || '.')
where :priority not between 1 and 10;
select refuse('validation-error', 'max_attempts must be between 1 and 10000', 'Got ' || :max_attempts || '.')
where :max_attempts not between 1 and 10000;
select :payloads as v_documents, 'payload' as v_what;
-- include check_documents
insert into lanes (job_id, priority) values (:v_job, :priority) on conflict do nothing;
select refuse('validation-error', 'submitter, owner and project have at most 200 characters')
where length(:submitter) > 200 or length(:owner) > 200 or length(:project) > 200;
select refuse('validation-error', 'tags are at most 20, of at most 200 characters')
where json_array_length(:tags) > 20 or exists (select 1 from json_each(:tags) as t where length(t.value) > 200);
select refuse('validation-error', 'delay must be between zero and 1000 years', 'Got ' || :delay / 1e6 || ' s.')
where :delay not between 0 and 31557600000000000;
select refuse('validation-error', 'idempotency_keys must be one for each payload, of 1 to 200 characters')
where json_array_length(:idempotency_keys) <> json_array_length(:payloads)
  or exists (select 1 from json_each(:idempotency_keys) as k where k.value = '' or length(k.value) > 200);
select refuse('validation-error', 'items must be one for each payload')
where json_array_length(:items) <> json_array_length(:payloads);
select refuse('no-workers-available', 'Job ''' || j.full_name || ''' has no connected workers')
from jobs as j
where j.id = :v_job and :require_workers and not exists (select 1 from worker_jobs as w where w.job_id = j.id);
select refuse('validation-error', 'trace_context must be a W3C traceparent, then tracestate, if any, after a space')
where not is_trace_context(:trace_context);

-- A fresh number for a new key and for an item without one, the first task's for a known key.
with keys as materialized (
  select k.key as place, k.value as key from json_each(:idempotency_keys) as k
), known as (
  select
    p.key as place, k.key, t.id,
    t.id is null and (k.key is null or p.key = min(p.key) over (partition by k.key)) as is_new
  from json_each(:payloads) as p
  left join keys as k on k.place = p.key
  left join tasks as t on t.job_id = :v_job and t.idempotency_key = k.key
), numbered as (
  select
    n.place, n.is_new, n.key,
    coalesce(n.id, iif(n.is_new, :v_last_id + sum(n.is_new) over (order by n.place), null)) as id
  from known as n
), drawn as (
  select n.place, n.is_new, coalesce(n.id, max(n.id) over (partition by n.key)) as id from numbered as n
)
select json_group_array(json_array(d.id, d.is_new)) as v_drawn
from (select drawn.* from drawn order by drawn.place) as d;

with payloads as materialized (
  select p.key as place, p.value as payload from json_each(:payloads) as p
), keys as materialized (
  select k.key as place, k.value as key from json_each(:idempotency_keys) as k
), drawn as (
  select d.key as place, json_extract(d.value, '$[0]') as id
  from json_each(:v_drawn) as d
  where json_extract(d.value, '$[1]')
)
insert into tasks (
  id, job_id, room, priority, max_attempts, created_at, is_ready, due_at, submitter, owner, project, tags,
  idempotency_key, trace_context, payload
)
select
  d.id, :v_job, :v_room, :priority, :v_max_attempts, now(), not :v_is_later, :v_due_at,
  :submitter, :owner, :project, :tags, k.key, :trace_context, p.payload
from drawn as d
cross join payloads as p on p.place = d.place
left join keys as k on k.place = d.place;
select json_extract(d.value, '$[0]') as task_id, json_extract(d.value, '$[1]') as is_new,
  coalesce(json_extract(:items, '$[' || d.key || ']'), d.key + 1) as item
from json_each(:v_drawn) as d
order by d.key;
