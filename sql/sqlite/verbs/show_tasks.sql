-- show_tasks(
--   room text, job text = null, status text = null, page_size integer = 50,
--   page_offset integer = 0
-- )
--
-- Tasks submitted from a room as HTTP shows them, newest first: all, or those of
-- one job, or of one status. A retired job's tasks stay readable.
select :page_offset as v_page_offset;
-- include check_page
-- include jobs_to_list
select a.*
from (
  select t.id
  from tasks as t
  where t.room = :room
    and (:v_job is null or t.job_id = :v_job)
    and (:status is null or t.status = :status)
  order by t.id desc
  limit :page_size offset :page_offset
) as p
join task_answer as a on a.id = p.id
order by a.id desc;
