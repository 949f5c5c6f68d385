-- Submits one task per payload in the words of the generic job manager and shows
-- them, in input order. An unknown domain:queue:job_type is registered first,
-- unless the domain is @global or @internal.
--
-- A payload whose idempotency key was used before is not submitted again: its row
-- is that of the first, also after it ended. `max_queued` and `submits_per_minute` are quotas of
-- the caller's, for the owner in the domain: beyond them it is refused.
create function pgjobs.create_generic_jobs(
  domain text,
  queue text,
  job_type text,
  payloads jsonb[],
  owner_user_id text default null,
  project_id bigint default null,
  priority integer default 5,
  max_retries integer default 3,
  available_at timestamptz default null,
  idempotency_keys text[] default null,
  tags text[] default null,
  after bigint[] default null,
  max_queued integer default null,
  submits_per_minute integer default null
)
returns setof pgjobs.generic_jobs
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job integer;
  v_archived_at timestamptz;
  v_tasks bigint[];
  v_new integer;
  v_has_quota boolean := num_nonnulls(create_generic_jobs.max_queued, create_generic_jobs.submits_per_minute) > 0;
begin
  select j.id, j.archived_at into v_job, v_archived_at
  from pgjobs.jobs as j
  where j.room = create_generic_jobs.domain and j.category = create_generic_jobs.queue
    and j.name = create_generic_jobs.job_type and j.deleted_at is null;
  if v_archived_at is not null then
    perform pgjobs._refuse('job-unavailable',
      format('Job type %s:%s:%s is archived', create_generic_jobs.domain, create_generic_jobs.queue, create_generic_jobs.job_type),
      format('Since %s.', v_archived_at), format('select pgjobs.unarchive_job(%L)',
        concat_ws(':', create_generic_jobs.domain, create_generic_jobs.queue, create_generic_jobs.job_type)));
  end if;
  if length(create_generic_jobs.owner_user_id) > 200 then
    perform pgjobs._refuse('validation-error', 'owner_user_id must have at most 200 characters');
  end if;
  if create_generic_jobs.max_retries is null or create_generic_jobs.max_retries not between 0 and 9999 then
    perform pgjobs._refuse('validation-error', 'max_retries must be between 0 and 9999',
      format('Got %s.', create_generic_jobs.max_retries));
  end if;
  if v_job is null and create_generic_jobs.domain in ('@global', '@internal') then
    perform pgjobs._refuse('job-not-found',
      format('No job type %s:%s in the domain %s', create_generic_jobs.queue, create_generic_jobs.job_type, create_generic_jobs.domain),
      'Those of everybody and of the server are not registered by their first use.', 'select pgjobs.register_job(...)');
  end if;
  if v_job is null then
    perform pgjobs._check_job_type(create_generic_jobs.domain, create_generic_jobs.queue, create_generic_jobs.job_type);
    -- Without a schema, so that a job that comes back keeps its own.
    v_job := (
      select r.job_id
      from pgjobs.register_job(
        create_generic_jobs.domain, create_generic_jobs.queue, create_generic_jobs.job_type, schema => null, max_attempts => 4,
        keep => true
      ) as r
    );
  end if;
  if v_has_quota then
    perform pgjobs._count_owner(create_generic_jobs.domain, create_generic_jobs.owner_user_id, pgjobs._now());
  end if;
  select array_agg(s.task_id order by s.place), count(*) filter (where s.is_new)
  into v_tasks, v_new
  from (
    select n.task_id, n.is_new, n.item as place
    from pgjobs.submit_tasks(
      job => v_job::text, payloads => create_generic_jobs.payloads, room => create_generic_jobs.domain,
      priority => create_generic_jobs.priority, available_at => create_generic_jobs.available_at,
      max_attempts => create_generic_jobs.max_retries + 1, idempotency_keys => create_generic_jobs.idempotency_keys,
      owner => create_generic_jobs.owner_user_id, project => create_generic_jobs.project_id::text,
      tags => create_generic_jobs.tags, after => create_generic_jobs.after
    ) as n
  ) as s;
  if v_has_quota and v_new > 0 then
    perform pgjobs._check_quota(
      create_generic_jobs.domain, create_generic_jobs.owner_user_id, create_generic_jobs.max_queued,
      create_generic_jobs.submits_per_minute, v_new, pgjobs._now()
    );
  end if;
  -- Lateral and not flattened: a join with the view would read all of it.
  return query
  select g.*
  from unnest(v_tasks) with ordinality as i (task_id, place)
  cross join lateral (select v.* from pgjobs.generic_jobs as v where v.id = i.task_id offset 0) as g
  order by i.place;
end
$$;

comment on function pgjobs.create_generic_jobs is
  'Submits tasks in the generic manager''s words. Example: select id, status from pgjobs.create_generic_jobs(''chatbooks'', ''default'', ''export'', array[''{"name": "weekly"}''::jsonb])';
