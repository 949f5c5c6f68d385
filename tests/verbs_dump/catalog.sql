select
  p.proname::text as name,
  p.pronargs as arguments,
  p.proargnames as names,
  p.proargmodes::text[] as modes,
  array(
    select format_type(t.kind, null)
    from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as t (kind, place)
    order by t.place
  ) as kinds,
  p.pronargdefaults as defaults,
  case when r.typtype = 'c' then r.typname::text end as relation,
  format_type(r.oid, null) as returns,
  array(
    select array[a.attname::text, format_type(a.atttypid, null)]
    from pg_attribute as a
    where a.attrelid = r.typrelid and a.attnum > 0 and not a.attisdropped
    order by a.attnum
  ) as columns,
  obj_description(p.oid, 'pg_proc') as comment
from pg_proc as p
join pg_type as r on r.oid = p.prorettype
where p.pronamespace = 'pgjobs'::regnamespace and p.prokind = 'f'
order by p.proname
