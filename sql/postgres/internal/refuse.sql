-- Raises one of the known problems; every refusal of the product goes through here.
create function pgjobs.refuse(problem text, message text, detail text default null, hint text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  raise exception using
    errcode = (select p.sqlstate from pgjobs.problems as p where p.problem = refuse.problem),
    message = refuse.message,
    detail = coalesce(refuse.detail, ''),
    hint = coalesce(refuse.hint, '');
end
$$;

comment on function pgjobs.refuse is
  'Raises a problem by name. Example: select pgjobs.refuse(''task-not-found'', ''No task 7'')';
