-- Locks all views and tables of the schema before any is changed, or none of them.
--
-- Whoever works has some of them and may be about to ask for others. To wait for
-- those with the others in hand is a deadlock, and which of the two Postgres then
-- ends is luck. So a try waits for less than Postgres takes to look for one (a
-- second, unless deadlock_timeout says otherwise), and between tries all may pass.
do $$
declare
  v_asked text := current_setting('lock_timeout');
  v_patience interval := v_asked;
  v_until timestamptz := clock_timestamp() + v_patience;
  v_tables text := (
    -- Views first, as whoever reads one takes it.
    select string_agg(format('%I.%I', 'pgjobs', c.relname), ', ' order by c.relkind = 'v' desc, c.oid)
    from pg_class as c
    where c.relnamespace = to_regnamespace('pgjobs') and c.relkind in ('r', 'p', 'v') and not c.relispartition
      and pg_has_role(c.relowner, 'usage')
  );
begin
  loop
    begin
      perform set_config('lock_timeout', case when v_patience < interval '100 ms' then v_asked else '100ms' end, true);
      execute format('lock table %s in access exclusive mode', v_tables);
      exit;
    exception when lock_not_available then
      if clock_timestamp() > v_until then
        raise;
      end if;
    end;
    perform pg_sleep(0.05 + 0.1 * random());
  end loop;
  perform set_config('lock_timeout', v_asked, true);
end
$$;
