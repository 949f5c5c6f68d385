-- storage()
--
-- The health of every table is something Postgres knows; here there is one file.
select
  null as relation, 0 as live, 0 as dead, null as dead_share, 0 as table_bytes, 0 as index_bytes, 0 as total_bytes,
  null as hot_share, null as last_vacuum_at, null as last_analyze_at
where false;
