-- Which node cleans up what: one row for each node and type of target that a job has or
-- a cleanup is open for, and the processes that were seen doing it.
create function pgjobs.list_cleanup_nodes()
returns table (
  node_id text,
  target_type text,
  open bigint,
  waiting bigint,
  is_served boolean,
  served_by text[],
  last_seen_at timestamptz,
  advice text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
begin
  return query
  with known as (
    select g.node_id, g.target ->> 'type' as target_type, 0 as open, 0 as waiting
    from pgjobs.targets as g
    where g.target is not null
    union all
    select
      t.payload ->> 'node_id', t.payload -> 'target' ->> 'type', 1,
      (c.status in ('queued', 'retrying', 'blocked') and c.next_attempt_at <= v_now)::integer
    from pgjobs._open_cleanups(pgjobs._cleanup_job()) as c
    join pgjobs.tasks as t on t.id = c.task_id
  ), nodes as (
    select k.node_id, k.target_type, sum(k.open) as open, sum(k.waiting) as waiting from known as k group by 1, 2
  )
  select
    n.node_id, n.target_type, n.open::bigint, n.waiting::bigint, c.holders is not null, coalesce(c.holders, '{}'), c.seen_at,
    case when c.holders is null then pgjobs._cleanup_command(n.node_id) end
  from nodes as n
  left join lateral (
    select array_agg(s.holder order by s.seen_at desc) as holders, max(s.seen_at) as seen_at
    from pgjobs._cleaners_of(n.node_id, jsonb_build_object('type', n.target_type), v_now) as s
  ) as c on true
  order by n.node_id, n.target_type;
end
$$;

comment on function pgjobs.list_cleanup_nodes is
  'Which node cleans up what. Example: select node_id, target_type, waiting, is_served from pgjobs.list_cleanup_nodes()';
