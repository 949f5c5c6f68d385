-- Whether somebody takes tasks of a job: a registered worker that is heard of, an
-- idle one that waits for it, or a holder that is not registered and was seen lately.
create function pgjobs.is_served(job_id integer, now timestamptz)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return exists (
    select from pgjobs.worker_jobs as l
    join pgjobs.workers as w on w.id = l.worker_id
    where l.job_id = is_served.job_id
      and w.last_heartbeat_at >= is_served.now - (select s.worker_timeout from pgjobs.settings as s)
  ) or pgjobs.has_holders(is_served.job_id, is_served.now);
end
$$;

comment on function pgjobs.is_served is 'Whether somebody takes tasks of a job. Example: select pgjobs.is_served(1, pgjobs.now())';

create function pgjobs.has_holders(job_id integer, now timestamptz)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return exists (select from pgjobs.waiting_marks as m where has_holders.job_id = any (m.job_ids))
    or exists (select from pgjobs.leases as l where l.job_id = has_holders.job_id and l.worker_id is null)
    or exists (
      select from pgjobs.rollups as r
      where r.minute > has_holders.now - interval '10 minutes' and r.job_id = has_holders.job_id
        and r.measure in ('completed', 'failed')
    );
end
$$;

comment on function pgjobs.has_holders is
  'Whether somebody who is not registered takes tasks of a job. Example: select pgjobs.has_holders(1, pgjobs.now())';

create function pgjobs.ago(moment timestamptz, now timestamptz)
returns text
language sql immutable
return pgjobs.short_duration(abs(extract(epoch from now - moment))::double precision);

comment on function pgjobs.ago is 'How far a moment is away. Example: select pgjobs.ago(pgjobs.now() - interval ''1 hour'', pgjobs.now())';
