-- count_found_tasks(
--   room text = null,
--   job text = null,
--   status text = null,
--   owner text = null,
--   since timestamptz = null,
--   until timestamptz = null,
--   matching text = null
-- )
--
-- How many tasks find_tasks would find: exact up to 10,000, further up at least
-- as many, with relation gte.
select null as v_before, 10001 as v_wanted;
-- include found_tasks
select
  min(json_array_length(:v_found), 10000) as total,
  iif(json_array_length(:v_found) > 10000, 'gte', 'eq') as relation;
