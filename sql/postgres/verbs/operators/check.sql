-- Counts what must never be; every row should say 0. Reads every table: for
-- tests and doctors, not for dashboards.
create function pgjobs.check()
returns table (rule text, violations bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select p.rule, p.violations from pgjobs._check_places() as p
  union all
  select b.rule, b.violations from pgjobs._check_belongings() as b
  union all
  select w.rule, w.violations from pgjobs._check_waits() as w
  union all
  select s.rule, s.violations from pgjobs._check_sharing() as s;
end
$$;

comment on function pgjobs.check is
  'Counts invariant violations; every row should say 0. Example: select * from pgjobs.check() where violations > 0';
