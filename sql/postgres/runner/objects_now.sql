-- The functions, views and triggers of the schema; partitions have triggers of their own.
select 'function' as kind, p.proname::text as name, p.oid
from pg_proc as p
where p.pronamespace = to_regnamespace('pgjobs')
union all
select 'view', c.relname::text, c.oid
from pg_class as c
where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v'
union all
select 'trigger', format('%s on %s', t.tgname, c.relname), t.oid
from pg_trigger as t
join pg_class as c on c.oid = t.tgrelid
where c.relnamespace = to_regnamespace('pgjobs') and not t.tgisinternal and not c.relispartition
