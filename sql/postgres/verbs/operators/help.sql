-- What there is, in its own words: every verb and view whose name or comment
-- contains `pattern`.
create function pgjobs.help(pattern text default '')
returns table (kind text, name text, arguments text, says text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select h.kind, h.name, h.arguments, h.says
  from (
    select
      'function' as kind, p.proname::text as name, pg_get_function_arguments(p.oid) as arguments,
      obj_description(p.oid, 'pg_proc') as says
    from pg_proc as p
    where p.pronamespace = to_regnamespace('pgjobs') and p.prosecdef
    union all
    select 'view', c.relname::text, null, obj_description(c.oid, 'pg_class')
    from pg_class as c
    where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v'
  ) as h
  where position(lower(help.pattern) in lower(h.name || ' ' || coalesce(h.says, ''))) > 0
  order by h.kind, h.name;
end
$$;

comment on function pgjobs.help is 'Every verb and view. Example: select name, says from pgjobs.help(''retry'')';
