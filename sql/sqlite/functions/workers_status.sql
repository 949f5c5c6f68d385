-- workers_status()
--
-- Registered workers, the silent ones first, and what they hold.
select
  w.id as worker_id,
  w.name,
  w.owner,
  w.last_heartbeat_at >= now() - s.worker_timeout as is_alive,
  max(0, now() - w.last_heartbeat_at) as heartbeat_age,
  w.registered_at,
  (select count(*) from worker_jobs as l where l.worker_id = w.id) as jobs,
  coalesce(h.claimed, 0) as claimed,
  coalesce(h.running, 0) as running,
  coalesce(h.overdue, 0) as overdue,
  max(0, now() - h.oldest_at) as oldest_claim
from workers as w
cross join settings as s
left join (
  select
    t.worker_id,
    sum(t.started_at is null) as claimed,
    sum(t.started_at is not null) as running,
    sum(coalesce(t.until <= now(), false)) as overdue,
    min(t.claimed_at) as oldest_at
  from tasks as t
  where t.status in ('claimed', 'running') and t.worker_id is not null
  group by t.worker_id
) as h on h.worker_id = w.id
order by is_alive, w.name, w.id;
