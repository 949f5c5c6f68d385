-- What an operator should look at, the worst first: severity, subject, what is
-- wrong, and the SQL to run. No rows: nothing is known to be wrong.
create function pgjobs.findings()
returns table (severity text, subject text, message text, advice text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
begin
  return query
  select f.severity, f.subject, f.message, f.advice
  from (
    select u.* from pgjobs._troubles_of_upkeep(v_now) as u
    union all
    select j.* from pgjobs._troubles_of_jobs(v_now) as j
    union all
    select k.* from pgjobs._troubles_of_keys(v_now) as k
    union all
    select q.* from pgjobs._troubles_of_quarantine(v_now) as q
    union all
    select s.* from pgjobs._troubles_of_schedules(v_now) as s
    union all
    select c.* from pgjobs._troubles_of_cleanups(v_now) as c
    union all
    select p.* from pgjobs._troubles_of_partitions() as p
    union all
    select d.* from pgjobs._troubles_of_database() as d
  ) as f
  order by array_position(array['error', 'warning', 'info'], f.severity), f.subject, f.message;
end
$$;

comment on function pgjobs.findings is
  'Issues found. Example: select severity, subject, message, advice from pgjobs.findings()';
