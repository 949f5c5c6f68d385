-- The text of a quoted literal at the beginning of a list of arguments; null where there
-- is none that is as simple as those that advice is written with.
create function pgjobs._first_literal(arguments text)
returns text
language sql immutable
return replace((regexp_match(arguments, '^''((?:[^'']|'''')*)'''))[1], '''''', '''');

comment on function pgjobs._first_literal is
  'The first of some quoted arguments. Example: select pgjobs._first_literal(''''''lab:mail:Welcome'''', 3'')';

-- Which action does what a piece of advice says, or where more is to be seen of it, and with
-- which arguments, as a program names them; no row for advice that only psql or a shell can follow.
create function pgjobs._fitting_action(advice text)
returns table (action text, arguments jsonb)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_call text[] := regexp_match(_fitting_action.advice, '^select \* from \w+\.(\w+)\((.*)\)$');
  v_view text[] := coalesce(
    regexp_match(_fitting_action.advice, '^select \* from \w+\.(waiting|errors) where job = (''.*'')$'),
    regexp_match(_fitting_action.advice, '^select \* from \w+\.(list_keys)\((''.*'')\)$')
  );
  v_why text[] := regexp_match(_fitting_action.advice, ' from \w+\.why\((\d+)\)$');
  v_node text[] := regexp_match(_fitting_action.advice, '^-- (on that machine|run): .*pgjobs cleanup run( --node (.+))?$');
  v_cleanups text[] := regexp_match(_fitting_action.advice, ' from \w+\.incomplete_cleanup_tasks where status = ''(\w+)''$');
  v_text text := pgjobs._first_literal(coalesce(v_call[2], v_view[2]));
begin
  if v_call[1] in ('resume_job', 'unarchive_job', 'limit_job') or v_view is not null then
    return query
    select
      case when v_view is null then v_call[1] else 'open_job' end,
      jsonb_strip_nulls(jsonb_build_object(
        'job', j.full_name, 'job_id', j.uuid,
        'max_running', case when v_call[1] = 'limit_job' then (regexp_match(v_call[2], ', (\d+)$'))[1]::integer end
      ))
    from pgjobs.jobs as j
    where j.full_name = v_text;
  elsif v_call[1] in ('retry_task', 'unignore_task', 'cancel_task') then
    return query
    select
      v_call[1],
      jsonb_build_object(
        'task_id', pgjobs.task_uuid((regexp_match(v_call[2], '^(\d+)'))[1]::bigint),
        'force', v_call[2] like '%force => true'
      );
  elsif v_call[1] = 'send_signal' then
    return query
    select
      v_call[1],
      jsonb_build_object(
        'task_id', pgjobs.task_uuid((regexp_match(v_call[2], '^(\d+)'))[1]::bigint),
        'signal', pgjobs._first_literal(substr(v_call[2], position(', ' in v_call[2]) + 2))
      );
  elsif v_call[1] = 'pause_schedule' then
    return query
    select v_call[1], jsonb_build_object('schedule', s.full_name, 'schedule_id', s.uuid)
    from pgjobs.schedule as s
    where s.full_name = v_text;
  elsif v_call[1] in ('sweep', 'fire_schedules') then
    return query select 'sweep', jsonb_build_object('step', case v_call[1] when 'sweep' then v_text else 'schedules' end);
  elsif v_cleanups is not null then
    return query select 'open_cleanups', jsonb_build_object('status', v_cleanups[1]);
  elsif v_why is not null then
    return query select 'open_task', jsonb_build_object('task_id', pgjobs.task_uuid(v_why[1]::bigint));
  elsif v_node is not null then
    return query select 'open_cleanups', jsonb_build_object('node_id', coalesce(v_node[3], 'hub'));
  elsif _fitting_action.advice ~ '^select \* from \w+\.workers_status$' then
    return query select 'open_workers', '{}'::jsonb;
  end if;
end
$$;

comment on function pgjobs._fitting_action is
  'Which action follows some advice. Example: select action, arguments from pgjobs._fitting_action(''select * from pgjobs.sweep()'')';
