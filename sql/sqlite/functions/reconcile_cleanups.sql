-- reconcile_cleanups(batch integer = 200, after interval = null, of_job text = null)
--
-- Gives every run that ended without completing, long enough ago, its one
-- clean-up task, a bounded batch at a time. Runs that have one are left alone,
-- however it stands. A run that was never told its target is taken to have
-- written where its job's runs write now. `after` stands in for the setting
-- this once, zero is right away; `of_job` leaves the runs of other jobs alone.
select refuse('validation-error', 'batch must be between 1 and 1000')
where :batch not between 1 and 1000;
select refuse('validation-error', 'after must not be negative') where :after < 0;
select coalesce(:after, nullif(c.cleanup_after, 0)) as v_after from settings as c;
select json_group_array(json_array(u.id, u.job_id, u.node_id, u.target)) as v_runs, count(*) as v_found
from (
  select t.id, t.job_id, coalesce(s.node_id, g.node_id) as node_id, coalesce(s.target, g.target) as target
  from targets as g
  join jobs as j on j.id = g.job_id and (:of_job is null or :of_job in (j.full_name, j.uuid))
  join tasks as t on t.job_id = g.job_id and t.status in ('failed', 'cancelled')
  left join run_targets as s on s.task_id = t.id
  where :v_after >= 0 and t.ended_at <= now() - :v_after
    and s.cleanup_id is null and coalesce(s.target, g.target) is not null
  order by t.ended_at, t.id
  limit :batch
) as u;

-- The job, registered with its policy when it is needed first.
insert into jobs (
  uuid, room, category, name, max_attempts, backoff_base, backoff_cap, jitter_share, jitter_cap, max_age, events, created_at
)
select
  uuid4(), '@internal', 'maintenance', 'incomplete-cleanup', 20, 300000000, 21600000000, 1.0, 60000000, 2592000000000,
  'full', now()
where :v_found > 0
on conflict do nothing;
-- include cleanup_job
insert into lanes (job_id, priority)
select :v_cleanup_job, 5 where :v_cleanup_job is not null on conflict do nothing;
insert into error_policies (job_id, kind, is_retryable, backoff_base, backoff_cap, jitter_share, jitter_cap)
select :v_cleanup_job, p.column1, true, p.column2, p.column3, 1.0, p.column4
from (values
  ('network', 60000000, 21600000000, 30000000),
  ('http', 60000000, 21600000000, 30000000),
  ('io', 300000000, 21600000000, 60000000),
  ('unknown', 300000000, 21600000000, 60000000),
  ('auth', 21600000000, 86400000000, 600000000),
  ('config', 21600000000, 86400000000, 600000000),
  ('lease_expired', 60000000, 60000000, 30000000)
) as p
where :v_cleanup_job is not null
  and not exists (select 1 from error_policies as k where k.job_id = :v_cleanup_job);

select iif(j.archived_at is null, :v_runs, '[]') as v_runs, iif(j.archived_at is null, :v_found, 0) as v_created
from jobs as j
where j.id = :v_cleanup_job;
insert into tasks (
  job_id, room, priority, max_attempts, created_at, is_ready, due_at, submitter, project, idempotency_key, payload
)
select
  c.id, '@internal', 5, c.max_attempts, now(), true, now(), 'maintenance', json_extract(r.value, '$[2]'),
  cast(json_extract(r.value, '$[0]') as text),
  json_object(
    'run_id', task_uuid(json_extract(r.value, '$[0]'), s.task_key),
    'job_id', j.uuid,
    'job_name', j.full_name,
    'node_id', json_extract(r.value, '$[2]'),
    'target', json(json_extract(r.value, '$[3]'))
  )
from json_each(:v_runs) as r
cross join jobs as j on j.id = json_extract(r.value, '$[1]')
cross join jobs as c on c.id = :v_cleanup_job
cross join secrets as s
where true
on conflict do nothing;
insert into run_targets (task_id, job_id, node_id, target, taken_at, cleanup_id)
select
  json_extract(r.value, '$[0]'), json_extract(r.value, '$[1]'), json_extract(r.value, '$[2]'),
  json_extract(r.value, '$[3]'), now(), t.id
from json_each(:v_runs) as r
cross join tasks as t
  on t.job_id = :v_cleanup_job and t.idempotency_key = cast(json_extract(r.value, '$[0]') as text)
where true
on conflict do update set cleanup_id = excluded.cleanup_id;
select coalesce(:v_created, 0) as created;
