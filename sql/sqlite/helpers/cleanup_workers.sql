-- The one cleanup that DELETE, a lost connection and the sweep share: takes
-- :v_workers and all that hangs on them away. Answers :v_failed, :v_retried
-- and :v_retired_jobs.
select json_group_array(json_array(t.id, 'Worker disconnected', 'worker_disconnected', null)) as v_ending
from tasks as t
where t.status in ('claimed', 'running') and t.worker_id in (select w.value from json_each(:v_workers) as w);
-- include end_attempts
select
  count(*) filter (where json_extract(e.value, '$[1]') <> 'pending') as v_failed,
  count(*) filter (where json_extract(e.value, '$[1]') = 'pending') as v_retried
from json_each(:v_judged) as e;
select json_group_array(distinct l.job_id) as v_left_jobs, null as v_unkept
from worker_jobs as l
where l.worker_id in (select w.value from json_each(:v_workers) as w);
delete from worker_jobs where worker_id in (select w.value from json_each(:v_workers) as w);
delete from workers where id in (select w.value from json_each(:v_workers) as w);
-- include retire_orphans
