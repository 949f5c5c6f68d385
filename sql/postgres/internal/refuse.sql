-- Raises one of the known problems; every refusal of the product goes through here.
create function pgjobs.refuse(problem text, message text, detail text default null, hint text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_state text := (select p.sqlstate from pgjobs.problems as p where p.problem = refuse.problem);
begin
  -- RAISE takes no null, and an empty line would be shown.
  if refuse.detail is null and refuse.hint is null then
    raise exception using errcode = v_state, message = refuse.message;
  elsif refuse.detail is null then
    raise exception using errcode = v_state, message = refuse.message, hint = refuse.hint;
  elsif refuse.hint is null then
    raise exception using errcode = v_state, message = refuse.message, detail = refuse.detail;
  end if;
  raise exception using errcode = v_state, message = refuse.message, detail = refuse.detail, hint = refuse.hint;
end
$$;

comment on function pgjobs.refuse is
  'Raises a problem by name. Example: select pgjobs.refuse(''task-not-found'', ''No task 7'')';
