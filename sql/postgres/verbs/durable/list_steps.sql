-- What a task has done and waits for so far, in order. `after` is the number of the last
-- step seen, for the next page.
create function pgjobs.list_steps(task_id bigint, after integer default 0, page_size integer default 500)
returns table (
  number integer, name text, kind text, is_done boolean, result jsonb, until timestamptz, saved_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
begin
  perform pgjobs._check_page(list_steps.page_size, 0);
  if not exists (
    select from pgjobs.tasks as t where t.id = list_steps.task_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', list_steps.task_id));
  end if;
  return query
  select s.number, s.name, s.kind, s.is_done, s.result, s.until, s.saved_at
  from pgjobs.steps as s
  where s.task_id = list_steps.task_id and s.number > coalesce(list_steps.after, 0)
  order by s.number
  limit list_steps.page_size;
end
$$;

comment on function pgjobs.list_steps is
  'The steps of a task. Example: select number, name, is_done, result from pgjobs.list_steps(42)';
