-- Jobs whose tasks somebody takes: a registered worker that is heard of, an idle
-- one that waits, or a holder that is not registered and was seen lately.
create function pgjobs.served_jobs(now timestamptz)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
set enable_seqscan = off
as $$
begin
  return array(
    select l.job_id
    from pgjobs.worker_jobs as l
    join pgjobs.workers as w on w.id = l.worker_id
    where w.last_heartbeat_at >= served_jobs.now - (select s.worker_timeout from pgjobs.settings as s)
    union
    select j.id from pgjobs.waiting_marks as m cross join unnest(m.job_ids) as j (id)
    union
    -- By the key: the pages of a busy table are mostly empty.
    select l.job_id from pgjobs.leases as l where l.task_id > 0 and l.worker_id is null
    union
    select r.job_id from pgjobs.rollups as r
    where r.minute > served_jobs.now - interval '10 minutes' and r.measure in ('completed', 'failed')
  );
end
$$;

comment on function pgjobs.served_jobs is 'Jobs whose tasks somebody takes. Example: select pgjobs.served_jobs(pgjobs.now())';

create function pgjobs.has_holders(job_id integer, now timestamptz)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
set enable_seqscan = off
as $$
begin
  return exists (select from pgjobs.waiting_marks as m where has_holders.job_id = any (m.job_ids))
    or exists (select from pgjobs.leases as l where l.task_id > 0 and l.job_id = has_holders.job_id and l.worker_id is null)
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
