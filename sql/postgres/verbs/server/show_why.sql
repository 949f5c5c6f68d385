-- Why a task waits, each check with the action that would change it: its name and
-- arguments, none where the check is fine or nothing but time or a worker helps.
create function pgjobs.show_why(task_uuid uuid)
returns table (checked text, is_ok boolean, answer text, advice text, action text, arguments jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint := pgjobs.task_id(show_why.task_uuid);
begin
  if not exists (
    select from pgjobs.tasks as t where t.id = v_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', show_why.task_uuid));
  end if;
  return query
  select w.checked, w.is_ok, w.answer, w.advice, a.action, a.arguments
  from pgjobs.why(v_id) as w
  left join lateral pgjobs._fitting_action(w.advice) as a on not w.is_ok
  order by w.step;
end
$$;

comment on function pgjobs.show_why is
  'The checks of pgjobs.why, each with the action that fits. Example: select answer, action from pgjobs.show_why(pgjobs.task_uuid(42)) where not is_ok';
