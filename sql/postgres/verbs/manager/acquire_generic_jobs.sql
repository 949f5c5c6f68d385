-- Leases up to `quantity` due tasks of a domain and queue to a holder known by
-- name, and shows them in the words of the generic job manager.
--
-- Ends lapsed leases as it goes, so that workers need no sweeper beside them:
-- when nothing was found, and otherwise once a second in each session. With `max_inflight` the
-- named owner has at most so many under leases that have not lapsed, in the domain.
create function pgjobs.acquire_generic_jobs(
  domain text,
  queue text,
  worker_id text,
  lease interval,
  quantity integer default 1,
  owner_user_id text default null,
  project_id bigint default null,
  job_type text default null,
  max_inflight integer default null
)
returns setof pgjobs.generic_jobs
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs._clock_ms();
  v_quantity integer;
  v_tasks bigint[];
  v_job pgjobs.generic_jobs;
begin
  if acquire_generic_jobs.domain is null or acquire_generic_jobs.queue is null then
    perform pgjobs._refuse('validation-error', 'A domain and a queue must be named');
  end if;
  if acquire_generic_jobs.worker_id is null or length(acquire_generic_jobs.worker_id) not between 1 and 200 then
    perform pgjobs._refuse('validation-error', 'worker_id must have 1 to 200 characters');
  end if;
  if acquire_generic_jobs.lease is null then
    perform pgjobs._refuse('validation-error', 'lease is required');
  end if;
  v_quantity := acquire_generic_jobs.quantity;
  if acquire_generic_jobs.max_inflight is not null then
    v_quantity := least(v_quantity, acquire_generic_jobs.max_inflight - pgjobs._inflight(
      acquire_generic_jobs.domain, acquire_generic_jobs.owner_user_id
    ));
  end if;
  v_tasks := case when v_quantity < 1 and acquire_generic_jobs.quantity > 0 then '{}' else array(
    select c.task_id
    from pgjobs.claim_tasks(
      quantity => v_quantity, lease => acquire_generic_jobs.lease,
      in_room => acquire_generic_jobs.domain, in_category => acquire_generic_jobs.queue,
      of_owner => acquire_generic_jobs.owner_user_id, of_project => acquire_generic_jobs.project_id::text,
      holder => acquire_generic_jobs.worker_id, start => true,
      job_ids => case when acquire_generic_jobs.job_type is not null then array(
        select j.id from pgjobs.jobs as j
        where j.room = acquire_generic_jobs.domain and j.category = acquire_generic_jobs.queue
          and j.name = acquire_generic_jobs.job_type
      ) end
    ) as c
  ) end;
  if cardinality(v_tasks) = 0 or pgjobs._floor_get('lapsed', v_clock) is null then
    perform pgjobs._floor_set('lapsed', 0, v_clock + 1000);
    perform pgjobs._sweep_leases(pgjobs._now(), 100);
  end if;
  -- Lateral and not flattened: a join with the view would read all of it.
  for v_job in
    select g.*
    from unnest(v_tasks) with ordinality as i (task_id, place)
    cross join lateral (select v.* from pgjobs.generic_jobs as v where v.id = i.task_id offset 0) as g
    order by i.place
  loop
    -- The view hides secrets, and whoever runs the task needs them.
    v_job.payload := (select t.payload from pgjobs.tasks as t where t.id = v_job.id);
    return next v_job;
  end loop;
end
$$;

comment on function pgjobs.acquire_generic_jobs is
  'Leases tasks in the generic manager''s words. Example: select id, lease_id, payload from pgjobs.acquire_generic_jobs(''chatbooks'', ''default'', ''me'', ''1 minute'')';
