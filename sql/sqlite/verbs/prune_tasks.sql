-- prune_tasks(
--   of_status text = null, older_than interval = null, of_job text = null, batch integer = 1000,
--   dry_run boolean = false, in_room text = null,
--   in_category text = null
-- )
--
-- Removes ended tasks that retention no longer keeps, a bounded batch, oldest
-- first, with their attempts and keys. With `dry_run` it only tells which.
-- The other arguments narrow it for operators.
select
  :of_job as v_address,
  :of_status as v_of_status,
  :older_than as v_older_than,
  :in_room as v_room,
  :in_category as v_category,
  :batch as v_batch;
-- include find_job
select refuse('validation-error', 'batch must be between 1 and 100000', 'Got ' || :batch || '.')
where :batch not between 1 and 100000;
select refuse('validation-error', 'older_than must be between zero and 1000 years', 'Got ' || :older_than / 1e6 || ' s.')
where :older_than not between 0 and 31557600000000000;
select refuse(
  'validation-error', 'of_status must be completed, failed or cancelled', 'Got ' || quote(:of_status) || '.'
)
where :of_status not in ('completed', 'failed', 'cancelled');
-- include find_prunable
select :v_pruned as v_answer, iif(:dry_run, '[]', :v_pruned) as v_pruned;
-- include remove_tasks
select
  json_extract(p.value, '$[0]') as task_id,
  json_extract(p.value, '$[1]') as status,
  json_extract(p.value, '$[2]') as ended_at
from json_each(:v_answer) as p
order by p.key;
