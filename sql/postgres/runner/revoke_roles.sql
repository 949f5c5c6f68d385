-- The roles' rights are made anew from grants.sql, which may have taken some away.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['pgjobs_readonly', 'pgjobs_producer', 'pgjobs_worker', 'pgjobs_operator', 'pgjobs_api', 'pgjobs_tenant'] loop
    if exists (select from pg_roles as r where r.rolname = v_role) then
      execute format('revoke all on all functions in schema pgjobs from %I', v_role);
      execute format('revoke all on all tables in schema pgjobs from %I', v_role);
    end if;
  end loop;
end
$$;
