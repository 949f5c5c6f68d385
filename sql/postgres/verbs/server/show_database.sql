-- What the queue lives in: schema and its version, server, size, and how much of
-- the cluster's queue of notifications is in use.
create function pgjobs.show_database()
returns table (schema_name text, version integer, server text, total_bytes bigint, notify_queue_share double precision)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select
    n.nspname::text,
    (select max(m.number)::integer from pgjobs.migrations as m),
    'Postgres ' || split_part(current_setting('server_version'), ' ', 1),
    (select sum(pg_total_relation_size(c.oid))::bigint from pg_class as c where c.relnamespace = n.oid and c.relkind = 'r'),
    pg_notification_queue_usage()
  from pg_namespace as n
  where n.oid = (select c.relnamespace from pg_class as c where c.oid = 'pgjobs.tasks'::regclass);
end
$$;

comment on function pgjobs.show_database is
  'The database: version, size, settings. Example: select schema_name, version, pg_size_pretty(total_bytes) from pgjobs.show_database()';
