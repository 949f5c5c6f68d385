-- The findings, each with the action that fits: its name and arguments. What no action changes
-- is about the database under the queue, and its page shows more of it.
create function pgjobs.show_findings()
returns table (severity text, subject text, message text, advice text, action text, arguments jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select f.severity, f.subject, f.message, f.advice, coalesce(a.action, 'open_database'), coalesce(a.arguments, '{}')
  from pgjobs.findings() with ordinality as f (severity, subject, message, advice, place)
  left join lateral pgjobs._fitting_action(f.advice) as a on true
  order by f.place;
end
$$;

comment on function pgjobs.show_findings is
  'Findings with the action that fits. Example: select message, action, arguments from pgjobs.show_findings()';
