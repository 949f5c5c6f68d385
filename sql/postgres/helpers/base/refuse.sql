-- Raises one of the known problems; every refusal of the product goes through here.
create function pgjobs._refuse(problem text, message text, detail text default null, hint text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_state text := (select p.sqlstate from pgjobs.problems as p where p.problem = _refuse.problem);
begin
  -- RAISE takes no null, and an empty line would be shown.
  if _refuse.detail is null and _refuse.hint is null then
    raise exception using errcode = v_state, message = _refuse.message;
  elsif _refuse.detail is null then
    raise exception using errcode = v_state, message = _refuse.message, hint = _refuse.hint;
  elsif _refuse.hint is null then
    raise exception using errcode = v_state, message = _refuse.message, detail = _refuse.detail;
  end if;
  raise exception using errcode = v_state, message = _refuse.message, detail = _refuse.detail, hint = _refuse.hint;
end
$$;

comment on function pgjobs._refuse is
  'Raises a problem by name. Example: select pgjobs._refuse(''task-not-found'', ''No task 7'')';
