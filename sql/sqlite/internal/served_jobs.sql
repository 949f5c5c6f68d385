-- The jobs somebody takes tasks of, as :v_served: with a registered worker that
-- is heard of, somebody who waits, or a holder that is not registered and was seen
-- lately; those of the latter two also as :v_with_holders.
--
-- Marks are renewed every minute while somebody waits, and stay behind when a
-- worker is killed.
select json_group_array(h.job_id) as v_with_holders
from (
  select cast(m.value as integer) as job_id from waiting as w cross join json_each(w.job_ids) as m
  where w.since > now() - 90000000
  union
  select t.job_id from tasks as t where t.status in ('claimed', 'running') and t.worker_id is null
  union
  select t.job_id from tasks as t where t.ended_at > now() - 600000000 and t.status <> 'cancelled' and t.worker_id is null
) as h;
select json_group_array(s.job_id) as v_served
from (
  select h.value as job_id from json_each(:v_with_holders) as h
  union
  select l.job_id
  from worker_jobs as l
  cross join workers as w on w.id = l.worker_id
  where w.last_heartbeat_at >= now() - (select c.worker_timeout from settings as c)
) as s;
