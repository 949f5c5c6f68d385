-- Refuses targets that cannot be cleaned, and targets that hold secrets.
create function pgjobs._check_target(target jsonb, node_id text)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_type text := _check_target.target ->> 'type';
begin
  if _check_target.node_id is null or _check_target.node_id = '' or length(_check_target.node_id) > 200 then
    perform pgjobs._refuse('validation-error', 'A node''s name has 1 to 200 characters');
  end if;
  if jsonb_typeof(_check_target.target) <> 'object' or coalesce(v_type, '') !~ '^[a-z][a-z0-9_]{0,49}$'
    or octet_length(_check_target.target::text) > 10000 or pgjobs._has_long_number(_check_target.target)
  then
    perform pgjobs._refuse('validation-error', 'A target is an object with a type and at most 10000 bytes, and no number of more than 4300 digits');
  end if;
  if pgjobs._redact_document(_check_target.target) <> _check_target.target then
    perform pgjobs._refuse('validation-error', 'A target must not hold secrets, queries or fragments',
      'A URL in it has a user, a query or a fragment, or a member is named like a secret.',
      'Name the secret: {"type": "webdav", "base_url": "https://host/dav", "secret_name": "dav"}');
  end if;
  if v_type = 'local_dir' and (
    jsonb_typeof(_check_target.target -> 'base_dir') is distinct from 'string'
    or _check_target.target ->> 'base_dir' !~ '^/' or _check_target.target ->> 'base_dir' ~ '(^|/)\.\.?(/|$)'
  ) then
    perform pgjobs._refuse('validation-error', 'base_dir must be an absolute path without . and ..');
  end if;
  if v_type = 'webdav' and (
    jsonb_typeof(_check_target.target -> 'base_url') is distinct from 'string'
    or _check_target.target ->> 'base_url' !~ '^https?://[^/]+'
    or coalesce(jsonb_typeof(_check_target.target -> 'secret_name'), 'string') not in ('string', 'null')
  ) then
    perform pgjobs._refuse('validation-error', 'base_url must be an http or https URL, and secret_name a text');
  end if;
end
$$;

comment on function pgjobs._check_target is
  'Refuses targets that cannot be. Example: select pgjobs._check_target(''{"type": "local_dir", "base_dir": "/data"}'', ''hub'')';

-- Runs that start are told where they write; what the job says later is not for them.
create function pgjobs._snapshot_targets()
returns trigger
language plpgsql
as $$
begin
  -- Most queues have no target, and this look costs less than touching the rows.
  if not exists (select from pgjobs.targets) then
    return null;
  end if;
  insert into pgjobs.run_targets (task_id, job_id, node_id, target, taken_at)
  select n.task_id, n.job_id, g.node_id, g.target, n.started_at
  from new_rows as n
  join pgjobs.targets as g on g.job_id = n.job_id and g.target is not null
  where n.started_at is not null
    -- Renewals and progress change rows that started before.
    and not exists (select from pgjobs.run_targets as s where s.task_id = n.task_id)
  on conflict (task_id) do nothing;
  return null;
end
$$;

comment on function pgjobs._snapshot_targets is
  'Trigger: copies the target of a job into the runs that start. Example: fires on update of pgjobs.leases';

-- The same for runs that start as they are claimed.
create function pgjobs._note_targets(task_ids bigint[], job_id integer, now timestamptz)
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.run_targets (task_id, job_id, node_id, target, taken_at)
  select i.id, g.job_id, g.node_id, g.target, _note_targets.now
  from unnest(_note_targets.task_ids) as i (id)
  join pgjobs.targets as g on g.job_id = _note_targets.job_id and g.target is not null
  on conflict (task_id) do nothing;
end
$$;

comment on function pgjobs._note_targets is
  'Copies the target of a job into runs that start. Example: see pgjobs.claim_tasks, which is told to start them';

-- Number of the job whose tasks clean up; empty while there was nothing to clean up.
create function pgjobs._cleanup_job()
returns integer
language sql stable
return (select j.id from pgjobs.jobs as j where j.full_name = '@internal:maintenance:incomplete-cleanup');

comment on function pgjobs._cleanup_job is 'Number of the cleanup job. Example: select pgjobs._cleanup_job()';

-- The same, registered with its policy when it is needed first. What an operator
-- changes afterwards stays.
create function pgjobs._ensure_cleanup_job()
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job integer := pgjobs._cleanup_job();
begin
  if v_job is not null then
    return v_job;
  end if;
  v_job := (
    select r.job_id
    from pgjobs.register_job(
      '@internal', 'maintenance', 'incomplete-cleanup', max_attempts => 20, backoff_base => '300 seconds',
      backoff_cap => '6 hours', jitter_share => 1, jitter_cap => '60 seconds', max_age => '30 days', events => 'full'
    ) as r
  );
  insert into pgjobs.error_policies (job_id, kind, backoff_base, backoff_cap, jitter_share, jitter_cap)
  select v_job, p.kind, p.base, p.cap, 1, p.jitter
  from (values
    ('network', interval '60 seconds', interval '6 hours', interval '30 seconds'),
    ('http', '60 seconds', '6 hours', '30 seconds'),
    ('io', '300 seconds', '6 hours', '60 seconds'),
    ('unknown', '300 seconds', '6 hours', '60 seconds'),
    ('auth', '6 hours', '24 hours', '600 seconds'),
    ('config', '6 hours', '24 hours', '600 seconds'),
    ('lease_expired', '60 seconds', '60 seconds', '30 seconds')
  ) as p (kind, base, cap, jitter)
  on conflict do nothing;
  -- Cleaners that were there before it.
  perform pgjobs._wake(0, 100);
  return v_job;
end
$$;

comment on function pgjobs._ensure_cleanup_job is
  'Number of the cleanup job, registered if need be. Example: see pgjobs.reconcile_cleanups, which calls it';

-- The cleanup task of a run; refused when the run has none.
create function pgjobs._find_cleanup(run_id uuid)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_task bigint := (
    select k.task_id
    from pgjobs.idempotency_keys as k
    where k.job_id = pgjobs._cleanup_job() and k.key = pgjobs.task_id(_find_cleanup.run_id)::text
  );
begin
  if v_task is null then
    perform pgjobs._refuse('task-not-found', format('Run %s has no cleanup task', _find_cleanup.run_id),
      null, 'select run_id from pgjobs.incomplete_cleanup_tasks');
  end if;
  return v_task;
end
$$;

comment on function pgjobs._find_cleanup is
  'The cleanup task of a run. Example: select pgjobs._find_cleanup(''<run id>'')';
