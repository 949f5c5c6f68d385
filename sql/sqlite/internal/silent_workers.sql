-- Finds the workers that have been silent for too long, as :v_silent: leases that live by their heartbeats are over.
select json_group_array(w.id) as v_silent
from workers as w
where w.last_heartbeat_at < now() - (select s.worker_timeout from settings as s);
