-- Takes the locks that triggers and views need, before any of them is changed: all within the
-- time that one try may take, or none. The time is for all of them together, as whoever needs
-- what is locked already waits for the rest.
--
-- In the order in which verbs go, so that we wait for those who are past the last lock we took,
-- and they for none of ours: submit, claim, end, tell. Views after tables, as verbs that write
-- read them last. Whoever reads waits for no trigger that is replaced; one that is dropped
-- stops readers too, who come to the table by a view.
do $$
declare
  v_asked text := current_setting('lock_timeout');
  v_until timestamptz := clock_timestamp() + v_asked::interval;
  v_way text[] := array['tasks', 'idempotency_keys', 'ready', 'scheduled', 'leases', 'outcomes', 'attempts', 'ignored'];
  v_command text;
begin
  for v_command in
    select
      case
        -- To lock a view would lock the tables behind it.
        when c.relkind = 'v' then format('alter view %s reset (security_barrier)', c.oid::regclass)
        else format('lock table %s in %s mode', c.oid::regclass, n.mode)
      end
    from unnest(':names'::text[], ':modes'::text[]) as n (name, mode)
    join pg_class as c on c.relnamespace = to_regnamespace('pgjobs') and c.relname = n.name and c.relkind in ('r', 'p', 'v')
    order by
      n.mode = 'access exclusive', c.relkind = 'v', c.relname = 'events', coalesce(array_position(v_way, c.relname::text), 0), c.oid
  loop
    perform set_config('lock_timeout', greatest(1, ceil(extract(epoch from v_until - clock_timestamp()) * 1000)) || 'ms', true);
    execute v_command;
  end loop;
  perform set_config('lock_timeout', v_asked, true);
end
$$;
