-- Who keeps dead rows from being removed: sessions with an open transaction,
-- prepared transactions, standbys and replication slots, the oldest first.
-- `held_back` counts the transactions since. Transactions of other databases hold
-- back nothing here.
create function pgjobs.blockers()
returns table (
  kind text,
  name text,
  pid integer,
  state text,
  since timestamptz,
  age interval,
  held_back bigint,
  advice text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with holders (kind, name, pid, state, since, horizon, advice) as (
    select
      'session', coalesce(nullif(a.application_name, ''), a.backend_type) || ' (' || coalesce(a.usename::text, '-') || ')',
      a.pid, a.state, a.xact_start, case when age(a.backend_xmin) >= age(a.backend_xid) then a.backend_xmin
        else coalesce(a.backend_xid, a.backend_xmin) end,
      format('select pg_terminate_backend(%s)', a.pid)
    from pg_stat_activity as a
    where a.pid <> pg_backend_pid()
      and (a.backend_xmin is not null or a.backend_xid is not null)
      and a.backend_type not in ('walsender', 'autovacuum worker')
      and coalesce(a.datname = current_database(), true)
    union all
    select 'prepared transaction', p.gid, null, null, p.prepared, p.transaction, format('rollback prepared %L', p.gid)
    from pg_prepared_xacts as p
    where p.database = current_database()
    union all
    select
      'standby', coalesce(nullif(r.application_name, ''), r.client_addr::text), r.pid, r.state, null, r.backend_xmin,
      'Turn off hot_standby_feedback there, or end its long queries'
    from pg_stat_replication as r
    where r.backend_xmin is not null
    union all
    select
      'replication slot', s.slot_name::text, s.active_pid, case when s.active then 'active' else 'inactive' end, null,
      case when age(s.xmin) >= age(s.catalog_xmin) then s.xmin else coalesce(s.catalog_xmin, s.xmin) end,
      format('select pg_drop_replication_slot(%L)', s.slot_name)
    from pg_replication_slots as s
    where s.xmin is not null or s.catalog_xmin is not null
  )
  select
    -- By the server's clock, which is what `since` is by.
    h.kind, h.name, h.pid, h.state, h.since, pgjobs._server_now() - h.since, age(h.horizon)::bigint, h.advice
  from holders as h
  order by age(h.horizon) desc, h.since;
end
$$;

comment on function pgjobs.blockers is
  'Sessions and slots that keep dead rows from being removed. Example: select kind, name, age, held_back, advice from pgjobs.blockers()';
