-- Soft-deletes those of :v_left_jobs that nobody serves and nothing waits for, and
-- of those to keep, :v_unkept; :v_retired_jobs says how many.
select json_group_array(j.id) as v_orphans, count(*) as v_retired_jobs
from jobs as j
where j.id in (select o.value from json_each(:v_left_jobs) as o)
  and j.room <> '@internal'
  and j.deleted_at is null
  and (not j.keep or j.id is :v_unkept)
  and not exists (select 1 from worker_jobs as w where w.job_id = j.id)
  and not exists (select 1 from tasks as t where t.job_id = j.id and t.is_ready)
  and not exists (select 1 from tasks as t where t.job_id = j.id and t.status = 'pending' and not t.is_ready);
update jobs set deleted_at = now() where id in (select o.value from json_each(:v_orphans) as o);
