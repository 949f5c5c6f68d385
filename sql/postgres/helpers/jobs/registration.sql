-- Every reason to refuse a registration.
create function pgjobs._check_registration(
  room text, category text, name text, schema jsonb, max_attempts integer, max_running integer, events text, actor text,
  is_superuser boolean
)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._check_room(room);
  perform pgjobs._enter(_check_registration.room);
  if category is null or category = '' or category ~ ':' or length(category) > 200 then
    perform pgjobs._refuse('invalid-category', 'A category has 1 to 200 characters and no colon');
  end if;
  if name is null or name = '' or length(name) > 200 then
    perform pgjobs._refuse('validation-error', 'A job''s name has 1 to 200 characters');
  end if;
  if actor is not null and not is_superuser and room in ('@global', '@internal') then
    perform pgjobs._refuse('forbidden', format('Only a superuser may register jobs in %s', room));
  end if;
  if octet_length(schema::text) > 65536 or jsonb_path_exists(schema, '$.**{33}') then
    perform pgjobs._refuse('validation-error', 'A schema has at most 65536 bytes and 32 levels');
  end if;
  if pgjobs._has_long_number(schema) then
    perform pgjobs._refuse('validation-error', 'A number in a schema has at most 4300 digits');
  end if;
  if max_attempts not between 1 and 10000 then
    perform pgjobs._refuse('validation-error', 'max_attempts must be between 1 and 10000', format('Got %s.', max_attempts));
  end if;
  perform pgjobs._check_limit(_check_registration.max_running);
  if events not in ('failures', 'full') then
    perform pgjobs._refuse('validation-error', 'events must be failures or full', format('Got %s.', events));
  end if;
end
$$;

comment on function pgjobs._check_registration is
  'Refuses registrations that cannot be. Example: see pgjobs.register_job, which calls it first';

-- A job has one number on every node of a cluster, and no node gives it out again: coordinators
-- number from 500,000,001 on, and nodes below that.
create function pgjobs._keep_job_number(job_id integer, job_number integer, job_uuid uuid)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_uuid uuid := (select j.uuid from pgjobs.jobs as j where j.id = _keep_job_number.job_id);
begin
  if _keep_job_number.job_id <> _keep_job_number.job_number or v_uuid <> _keep_job_number.job_uuid then
    perform pgjobs._refuse('validation-error', 'The job is registered here under another number',
      format('It is %s, %s.', _keep_job_number.job_id, v_uuid), 'Every node must have been installed for this cluster.');
  end if;
  if _keep_job_number.job_number <= 500000000 then
    perform setval('pgjobs.jobs_id_seq', greatest(s.last_value, _keep_job_number.job_number)) from pgjobs.jobs_id_seq as s;
  end if;
end
$$;

comment on function pgjobs._keep_job_number is
  'Refuses another number than a job has. Example: see pgjobs.register_job, which calls it';

create function pgjobs._check_limit(max_running integer)
returns void
language plpgsql stable
as $$
begin
  if max_running not between 1 and 1000000 then
    perform pgjobs._refuse('validation-error', 'max_running must be between 1 and 1000000', format('Got %s.', max_running),
      'To let none run, pause the job.');
  end if;
end
$$;

comment on function pgjobs._check_limit is 'Refuses limits that cannot be. Example: select pgjobs._check_limit(3)';

-- Soft-deletes jobs that nobody serves and nothing waits for, unless they are to
-- be kept or have a schedule, and nobody asked for them by name.
--
-- Whoever ends a task of a job that is served goes on without a lock: the job's
-- last worker to leave looks again. Otherwise the rows are locked in a statement
-- of their own: a registration that was in flight has then committed, and the
-- next statement sees the worker it linked.
create function pgjobs._retire_orphans(job_ids integer[], now timestamptz, even_kept boolean default false)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_retired integer;
begin
  if not exists (
    select from unnest(_retire_orphans.job_ids) as i (id)
    where not exists (select from pgjobs.worker_jobs as w where w.job_id = i.id)
  ) then
    return 0;
  end if;
  perform from pgjobs.jobs as j where j.id = any (_retire_orphans.job_ids) order by j.id for update;
  update pgjobs.jobs as j
  set deleted_at = _retire_orphans.now
  where j.id = any (_retire_orphans.job_ids)
    and j.room <> '@internal'
    and j.deleted_at is null
    and (not j.keep or even_kept)
    and not exists (select from pgjobs.worker_jobs as w where w.job_id = j.id)
    and (even_kept or not exists (select from pgjobs.schedules as s where s.job_id = j.id))
    -- Subqueries, not `not exists`: as a join it would read the whole backlog.
    and (select true from pgjobs.ready as r where r.job_id = j.id limit 1) is null
    and (select true from pgjobs.scheduled as s where s.job_id = j.id limit 1) is null;
  get diagnostics v_retired = row_count;
  return v_retired;
end
$$;

comment on function pgjobs._retire_orphans is
  'Soft-deletes jobs without workers and pending tasks. Example: select pgjobs._retire_orphans(array[1], pgjobs._now())';

-- Brings back retired jobs that tasks wait for: a submit may have been in flight
-- while its job was retired, or somebody retried a task since.
create function pgjobs._revive_jobs()
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  update pgjobs.jobs as j
  set deleted_at = null
  where j.deleted_at is not null
    and (
      (select true from pgjobs.ready as r where r.job_id = j.id limit 1)
      or (select true from pgjobs.scheduled as s where s.job_id = j.id limit 1)
    );
end
$$;

comment on function pgjobs._revive_jobs is 'Brings back retired jobs that tasks wait for. Example: select pgjobs._revive_jobs()';
