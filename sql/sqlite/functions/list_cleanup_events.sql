-- list_cleanup_events(run_id uuid, page_size integer = 500)
--
-- What happened to the clean-up task of a run, the last of it, oldest first.
-- include find_cleanup
select 0 as v_page_offset;
-- include check_page
select l.*
from (
  select e.*
  from incomplete_cleanup_events as e
  where e.task_id = :v_task
  order by e.seq desc
  limit :page_size
) as l
order by l.seq;
