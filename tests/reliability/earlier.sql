-- Makes verbs of today those of an earlier release: each answers with a column more.
drop schema if exists behind cascade;
create schema behind;

do $$
declare
  v_verb record;
begin
  for v_verb in
    select
      f.oid::regprocedure as signature,
      f.proname as name,
      pg_get_function_arguments(f.oid) as arguments,
      regexp_replace(pg_get_function_result(f.oid), '\)$', ', earlier boolean)') as result,
      (select string_agg('$' || n, ', ') from generate_series(1, f.pronargs) as n) as given
    from pg_proc as f
    where f.pronamespace = 'pgjobs'::regnamespace
      and pg_get_function_result(f.oid) like 'TABLE(%'
      and f.proname in (
        'claim_tasks', 'start_tasks', 'renew_tasks', 'complete_tasks', 'fail_tasks', 'release_tasks',
        'submit_tasks', 'mark_waiting', 'heartbeat_worker', 'register_worker', 'fire_schedules', 'sweep'
      )
  loop
    execute format('alter function %s set schema behind', v_verb.signature);
    execute format(
      'create function pgjobs.%I(%s) returns %s language sql as %L',
      v_verb.name, v_verb.arguments, v_verb.result,
      format('select *, true from behind.%I(%s)', v_verb.name, v_verb.given)
    );
  end loop;
end
$$;
