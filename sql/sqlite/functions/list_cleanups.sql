-- list_cleanups(
--   statuses text[] = null,
--   target_types text[] = null,
--   of_node text = null,
--   of_job text = null,
--   page_size integer = 20,
--   page_offset integer = 0
-- )
--
-- A page of clean-up tasks, next due first; then those that wait for nothing, changed
-- last first; then those that are done, newest first. `total` counts all pages.
select :page_offset as v_page_offset;
-- include check_page
-- include check_cleanup_statuses
select c.*, count(*) over () as total
from incomplete_cleanup_tasks as c
where (:statuses is null or c.status in (select s.value from json_each(:statuses) as s))
  and (:target_types is null or c.target_type in (select s.value from json_each(:target_types) as s))
  and (:of_node is null or c.node_id = :of_node)
  and (:of_job is null or :of_job in (c.job_id, c.job_name))
order by
  c.next_attempt_at nulls last,
  c.status = 'done',
  iif(c.next_attempt_at is null and c.status <> 'done', c.updated_at, null) desc,
  iif(c.status = 'done', -c.task_id, c.task_id)
limit :page_size offset :page_offset;
