-- The health of every table: rows, dead rows, bytes, how many updates stayed on
-- their page (HOT), and when it was last vacuumed. The server's own statistics.
create function pgjobs.storage()
returns table (
  relation text,
  live bigint,
  dead bigint,
  dead_share double precision,
  table_bytes bigint,
  index_bytes bigint,
  total_bytes bigint,
  hot_share double precision,
  last_vacuum_at timestamptz,
  last_analyze_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select
    s.relname::text, s.n_live_tup, s.n_dead_tup,
    round(s.n_dead_tup::numeric / nullif(s.n_live_tup + s.n_dead_tup, 0), 3)::double precision,
    pg_table_size(s.relid), pg_indexes_size(s.relid), pg_total_relation_size(s.relid),
    round(s.n_tup_hot_upd::numeric / nullif(s.n_tup_upd, 0), 3)::double precision,
    greatest(s.last_vacuum, s.last_autovacuum), greatest(s.last_analyze, s.last_autoanalyze)
  from pg_stat_user_tables as s
  where s.schemaname = 'pgjobs'
  order by pg_total_relation_size(s.relid) desc, s.relname;
end
$$;

comment on function pgjobs.storage is
  'The health of every table. Example: select relation, live, dead, pg_size_pretty(total_bytes) from pgjobs.storage()';
