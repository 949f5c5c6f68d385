-- claim_cleanups(holder text, node_id text = null, quantity integer = 1, lease interval = null)
--
-- Hands due clean-up tasks to a cleaner, each under a lease of 30 minutes unless
-- said otherwise; with `node_id`, those of that machine only. A task whose run
-- was retried meanwhile is not handed out: when the run is complete there is
-- nothing to do, and while it lives the task waits another hour.
-- include cleanup_job
select
  iif(:v_cleanup_job is null, json_array(), json_array(:v_cleanup_job)) as v_job_ids,
  coalesce(:lease, 1800000000) as v_lease,
  true as v_start,
  3600000000 as v_hour;
-- call claim_tasks(
--   holder => :holder, quantity => :quantity, job_ids => :v_job_ids, lease => :v_lease, of_project => :node_id,
--   start => :v_start
-- ) into v_claimed
select
  coalesce(json_group_array(t.id) filter (where r.status in ('pending', 'claimed', 'running')), '[]') as v_alive,
  coalesce(json_group_array(t.token) filter (where r.status in ('pending', 'claimed', 'running')), '[]') as v_alive_tokens,
  coalesce(json_group_array(t.id) filter (where r.status = 'completed'), '[]') as v_complete,
  coalesce(json_group_array(t.token) filter (where r.status = 'completed'), '[]') as v_complete_tokens,
  coalesce(json_group_array('{"outcome":"skip_complete"}') filter (where r.status = 'completed'), '[]') as v_results
from json_each(:v_claimed) as c
cross join secrets as s
cross join tasks as t on t.id = json_extract(c.value, '$.task_id')
left join tasks as r on r.id = task_id(json_extract(t.payload, '$.run_id'), s.task_key);
-- call release_tasks(task_ids => :v_alive, tokens => :v_alive_tokens, delay => :v_hour) into v_released
-- call complete_tasks(task_ids => :v_complete, tokens => :v_complete_tokens, results => :v_results) into v_completed
select
  t.id as task_id,
  t.token,
  t.attempt,
  t.until,
  json_extract(t.payload, '$.run_id') as run_id,
  json_extract(t.payload, '$.job_name') as job,
  json_extract(t.payload, '$.node_id') as node,
  json_extract(t.payload, '$.target') as target
from json_each(:v_claimed) as c
cross join tasks as t on t.id = json_extract(c.value, '$.task_id')
where t.status = 'running'
order by c.key;
