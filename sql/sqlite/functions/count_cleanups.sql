-- count_cleanups(
--   statuses text[] = null,
--   target_types text[] = null,
--   of_node text = null,
--   of_job text = null
-- )
--
-- How many clean-up tasks list_cleanups would show in all.
-- include check_cleanup_statuses
select count(*) as total
from incomplete_cleanup_tasks as c
where (:statuses is null or c.status in (select s.value from json_each(:statuses) as s))
  and (:target_types is null or c.target_type in (select s.value from json_each(:target_types) as s))
  and (:of_node is null or c.node_id = :of_node)
  and (:of_job is null or :of_job in (c.job_id, c.job_name));
