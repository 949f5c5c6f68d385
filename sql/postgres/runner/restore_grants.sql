-- Gives back what an object lost because it had to be dropped and made anew.
do $$
declare
  v_command text;
begin
  for v_command in
    select format(
      'grant %s%s on %s pgjobs.%I to %s%s',
      k.privilege, ' (' || quote_ident(k.column_name) || ')', case k.kind when 'function' then 'function' else 'table' end,
      k.name, coalesce(quote_ident(k.grantee), 'public'), case when k.is_grantable then ' with grant option' else '' end
    )
    from (
      select kept.* from pgjobs.installed_grants as kept
      except
      select present.* from (grants_now) as present
    ) as k
    where (k.grantee is null or exists (select from pg_roles as r where r.rolname = k.grantee))
      and exists (select from (objects_now) as o where o.kind = k.kind and o.name = k.name)
      and (
        k.column_name is null
        or exists (
          select from pg_attribute as a
          where a.attrelid = to_regclass(format('%I.%I', 'pgjobs', k.name)) and a.attname = k.column_name
        )
      )
  loop
    execute v_command;
  end loop;
end
$$;
