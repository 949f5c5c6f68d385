-- What stops an object ($1: its catalog, $2: its number) from being dropped: views by their rules,
-- functions also by the type of a view's rows, triggers by their function, defaults, constraints.
with dependents as (
  select distinct
    case when d.classid = 'pg_rewrite'::regclass then 'pg_class'::regclass else d.classid::regclass end as class,
    case when d.classid = 'pg_rewrite'::regclass then r.ev_class else d.objid end as oid
  from pg_depend as d
  left join pg_rewrite as r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
  where d.deptype = 'n'
    and (
      (d.refclassid = $1::regclass and d.refobjid = $2)
      or (
        $1::regclass = 'pg_class'::regclass and d.refclassid = 'pg_type'::regclass
        and d.refobjid in (
          select t.oid
          from pg_class as c
          join pg_type as y on y.oid = c.reltype
          join pg_type as t on t.oid in (y.oid, y.typarray)
          where c.oid = $2
        )
      )
    )
)

select
  d.class::text as class, d.oid, pg_describe_object(d.class, d.oid, 0) as description,
  o.kind, o.name
from dependents as d
left join (
  select
    'pg_proc' as class, p.oid, 'function' as kind, p.proname::text as name
  from pg_proc as p
  where p.pronamespace = to_regnamespace('pgjobs')
  union all
  select 'pg_class', c.oid, 'view', c.relname::text
  from pg_class as c
  where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v'
  union all
  select 'pg_trigger', t.oid, 'trigger', format('%s on %s', t.tgname, c.relname)
  from pg_trigger as t
  join pg_class as c on c.oid = t.tgrelid
  where c.relnamespace = to_regnamespace('pgjobs') and t.tgparentid = 0
) as o on o.class = d.class::text and o.oid = d.oid
where not (d.class = $1::regclass and d.oid = $2)
