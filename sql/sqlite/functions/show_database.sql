-- show_database()
--
-- What the queue lives in: schema and its version, server and size.
select
  'main' as schema_name,
  (select max(m.number) from migrations as m) as version,
  'SQLite ' || sqlite_version() as server,
  (select p.page_count from pragma_page_count as p) * (select p.page_size from pragma_page_size as p) as total_bytes,
  null as notify_queue_share;
