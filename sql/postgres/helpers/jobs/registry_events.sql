-- Facts about the registry, for the rooms that should look again. Triggers, so
-- that nobody has to remember; each says that it is a verb, because tables of the
-- registry may be changed by hand.
create function pgjobs._announce_job()
returns trigger
language plpgsql
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  insert into pgjobs.events (at, kind, job_id, room)
  values (pgjobs._now(), case when new.deleted_at is null then 'job_registered' else 'job_orphaned' end, new.id, new.room);
  return null;
end
$$;

comment on function pgjobs._announce_job is
  'Trigger: records that a job came or went. Example: fires on insert into pgjobs.jobs';

create function pgjobs._announce_link()
returns trigger
language plpgsql
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  insert into pgjobs.events (at, kind, job_id, room, worker_id)
  select pgjobs._now(), case tg_op when 'INSERT' then 'worker_joined' else 'worker_left' end, c.job_id, j.room, c.worker_id
  from changed as c
  join pgjobs.jobs as j on j.id = c.job_id;
  return null;
end
$$;

comment on function pgjobs._announce_link is
  'Trigger: records that a worker serves a job, or no longer. Example: fires on insert into pgjobs.worker_jobs';

create function pgjobs._announce_provider()
returns trigger
language plpgsql
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  insert into pgjobs.events (at, kind, room, worker_id, fields)
  select
    pgjobs._now(), case tg_op when 'DELETE' then 'provider_retired' else 'provider_registered' end, c.room, c.worker_id,
    jsonb_build_object('provider_id', c.id, 'provider_name', c.full_name)
  from changed as c;
  return null;
end
$$;

comment on function pgjobs._announce_provider is
  'Trigger: records that a provider came or went. Example: fires on insert into pgjobs.providers';
