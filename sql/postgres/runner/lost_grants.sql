-- What roles had when the schema was last installed and have no more.
select
  k.grantee, count(*) as lost, min(k.name) as example,
  string_agg(
    format(
      'grant %s%s on %s pgjobs.%I to %s;', k.privilege, ' (' || quote_ident(k.column_name) || ')',
      case k.kind when 'function' then 'function' else 'table' end, k.name, coalesce(quote_ident(k.grantee), 'public')
    ), ' ' order by k.name
  ) as repair
from (
  select kept.* from pgjobs.installed_grants as kept
  except
  select present.* from (grants_now) as present
) as k
where (k.grantee is null or exists (select from pg_roles as r where r.rolname = k.grantee))
  and exists (select from (objects_now) as o where o.kind = k.kind and o.name = k.name)
group by k.grantee
order by k.grantee;
