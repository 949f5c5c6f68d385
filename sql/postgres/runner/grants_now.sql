-- Who may use which function or view of the schema, but for its owner.
select g.kind, g.name, g.column_name, r.rolname::text as grantee, g.privilege_type as privilege, g.is_grantable
from (
  select 'function' as kind, p.proname::text as name, null::text as column_name, a.grantee, a.privilege_type, a.is_grantable
  from pg_proc as p
  cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
  where p.pronamespace = to_regnamespace('pgjobs') and a.grantee <> p.proowner
  union all
  select 'view', c.relname::text, null, a.grantee, a.privilege_type, a.is_grantable
  from pg_class as c
  cross join aclexplode(c.relacl) as a
  where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v' and a.grantee <> c.relowner
  union all
  select 'view', c.relname::text, t.attname::text, a.grantee, a.privilege_type, a.is_grantable
  from pg_class as c
  join pg_attribute as t on t.attrelid = c.oid and t.attnum > 0 and not t.attisdropped
  cross join aclexplode(t.attacl) as a
  where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v'
) as g
left join pg_roles as r on r.oid = g.grantee
