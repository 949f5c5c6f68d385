-- providers_status()
--
-- Registered providers, whether their worker is heard of, and how many of their
-- answers are kept and on their way.
select
  p.full_name as provider,
  p.content_type,
  p.owner,
  p.worker_id,
  w.name as worker,
  w.last_heartbeat_at >= now() - s.worker_timeout as is_alive,
  max(0, now() - w.last_heartbeat_at) as heartbeat_age,
  (
    select count(*) from reads as r
    where r.expires_at > now() and r.key >= 'provider-result:' || p.id || ':' and r.key < 'provider-result:' || p.id || ';'
  ) as kept,
  (
    select count(*) from reads_in_flight as f
    where f.expires_at > now() and f.key >= 'provider-result:' || p.id || ':' and f.key < 'provider-result:' || p.id || ';'
  ) as in_flight,
  p.created_at
from providers as p
cross join settings as s
cross join workers as w on w.id = p.worker_id
order by p.full_name;
