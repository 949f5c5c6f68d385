-- Registered workers, the silent ones first, and what they hold.
create function pgjobs.workers_status()
returns table (
  worker_id uuid,
  name text,
  owner text,
  is_alive boolean,
  heartbeat_age interval,
  registered_at timestamptz,
  jobs integer,
  claimed bigint,
  running bigint,
  overdue bigint,
  oldest_claim interval
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_alive timestamptz := v_now - (select s.worker_timeout from pgjobs.settings as s);
begin
  return query
  with held as (
    select
      l.worker_id,
      count(*) filter (where l.started_at is null) as claimed,
      count(*) filter (where l.started_at is not null) as running,
      count(*) filter (where l.until <= v_now) as overdue,
      min(l.claimed_at) as oldest_at
    from pgjobs.leases as l
    -- By the key: the pages of a busy table are mostly empty.
    where l.task_id > 0 and l.worker_id is not null
    group by l.worker_id
  )
  select
    w.id, w.name, w.owner, w.last_heartbeat_at >= v_alive, pgjobs._elapsed(w.last_heartbeat_at, v_now),
    w.registered_at, (select count(*)::integer from pgjobs.worker_jobs as s where s.worker_id = w.id),
    coalesce(h.claimed, 0), coalesce(h.running, 0), coalesce(h.overdue, 0), pgjobs._elapsed(h.oldest_at, v_now)
  from pgjobs.workers as w
  left join held as h on h.worker_id = w.id
  order by w.last_heartbeat_at >= v_alive, w.name, w.id;
end
$$;

comment on function pgjobs.workers_status is
  'Registered workers and what they hold. Example: select name, is_alive, heartbeat_age, running from pgjobs.workers_status()';
