-- Registered providers, whether their worker is alive, and how many of their
-- answers are kept and on their way (counted up to 1,000 each; null on a standby,
-- which has none of these unlogged tables).
create function pgjobs.providers_status()
returns table (
  provider text,
  content_type text,
  owner text,
  worker_id uuid,
  worker text,
  is_alive boolean,
  heartbeat_age interval,
  kept bigint,
  in_flight bigint,
  created_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_now timestamptz := pgjobs._now();
  v_alive timestamptz := v_now - (select s.worker_timeout from pgjobs.settings as s);
  v_kept jsonb;
  v_asked jsonb;
begin
  if not pg_is_in_recovery() then
    v_kept := (
      select coalesce(jsonb_object_agg(k.provider_id, k.quantity), '{}')
      from (
        select split_part(r.key, ':', 2) as provider_id, count(*) as quantity
        from (select a.key from pgjobs.reads as a where a.expires_at > v_now limit 10000) as r
        group by 1
      ) as k
    );
    v_asked := (
      select coalesce(jsonb_object_agg(k.provider_id, k.quantity), '{}')
      from (
        select split_part(f.key, ':', 2) as provider_id, count(*) as quantity
        from (select a.key from pgjobs.reads_in_flight as a where a.expires_at > v_now limit 10000) as f
        group by 1
      ) as k
    );
  end if;
  return query
  select
    p.full_name, p.content_type, p.owner, p.worker_id, w.name, w.last_heartbeat_at >= v_alive,
    pgjobs._elapsed(w.last_heartbeat_at, v_now), case when v_kept is not null then coalesce((v_kept ->> p.id::text)::bigint, 0) end,
    case when v_asked is not null then coalesce((v_asked ->> p.id::text)::bigint, 0) end, p.created_at
  from pgjobs.providers as p
  join pgjobs.workers as w on w.id = p.worker_id
  where v_rooms is null or p.room = any (v_rooms)
  order by p.full_name;
end
$$;

comment on function pgjobs.providers_status is
  'Registered providers and their answers. Example: select provider, is_alive, kept, in_flight from pgjobs.providers_status()';
