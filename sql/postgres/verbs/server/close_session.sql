-- Signs out, at once and for good; says whether there was anybody.
create function pgjobs.close_session(session text)
returns table (is_closed boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  delete from pgjobs.sessions as s
  where s.session_hash = sha256(convert_to(close_session.session, 'UTF8'));
  return query select found;
end
$$;

comment on function pgjobs.close_session is
  'Signs out. Example: select * from pgjobs.close_session(''pgc_…'')';
