-- find_tasks(
--   room text = null,
--   job text = null,
--   status text = null,
--   owner text = null,
--   since timestamptz = null,
--   until timestamptz = null,
--   matching text = null,
--   before uuid = null,
--   page_size integer = 50
-- )
--
-- A page of the newest tasks that fit every filter given, in one row: the tasks,
-- and `next`, the public id before which to go on.
select 0 as v_page_offset;
-- include check_page
select task_id(:before, (select s.task_key from secrets as s)) as v_before, :page_size as v_wanted;
-- include found_tasks
-- include seen_tasks
select
  :v_documents as found,
  (
    select task_uuid(min(n.value), (select s.task_key from secrets as s))
    from json_each(:v_found) as n
    having count(*) = :page_size and count(*) > 0
  ) as next;
