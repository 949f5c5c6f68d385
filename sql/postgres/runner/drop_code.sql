-- Drops the code of the schema, newest first: later objects depend only on
-- earlier ones. Without cascade, so that nothing of anybody else's goes with it.
do $$
declare
  v_command text;
begin
  for v_command in
    select format('drop policy %I on %s', p.polname, p.polrelid::regclass)
    from pg_policy as p
    join pg_class as c on c.oid = p.polrelid
    where c.relnamespace = to_regnamespace('pgjobs')
    union all
    select format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass)
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
    join pg_proc as f on f.oid = t.tgfoid
    where c.relnamespace = to_regnamespace('pgjobs')
      and f.pronamespace = c.relnamespace
      and t.tgparentid = 0
  loop
    execute v_command;
  end loop;

  for v_command in
    select o.command
    from (
      select f.oid, format('drop routine %s', f.oid::regprocedure)
      from pg_proc as f
      where f.pronamespace = to_regnamespace('pgjobs')
        and not exists (select from pg_depend as d where d.objid = f.oid and d.deptype = 'e')
      union all
      select c.oid, format('drop view %s', c.oid::regclass)
      from pg_class as c
      where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v'
    ) as o (oid, command)
    order by o.oid desc
  loop
    execute v_command;
  end loop;
end
$$;
