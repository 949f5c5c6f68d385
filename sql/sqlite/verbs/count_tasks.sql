-- count_tasks(room text, job text = null, status text = null)
--
-- How many tasks show_tasks would list: exact up to 10,000, further up at least
-- as many, with relation gte.
-- include jobs_to_list
select min(count(*), 10000) as total, iif(count(*) > 10000, 'gte', 'eq') as relation
from (
  select 1
  from tasks as t
  where t.room = :room
    and (:v_job is null or t.job_id = :v_job)
    and (:status is null or t.status = :status)
  limit 10001
) as f;
