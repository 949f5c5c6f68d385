-- The tasks that had to end before this one could start, in order, with their results.
create function pgjobs.list_parents(task_id bigint)
returns table (
  name text, parent_id bigint, job text, status text, on_failure text, result jsonb, error text, reason text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if not exists (
    select from pgjobs.tasks as t where t.id = list_parents.task_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', list_parents.task_id));
  end if;
  return query
  select
    d.name, d.after_id, v.job, coalesce(v.status, 'removed'), d.on_failure,
    case when v_rooms is null or v.room = any (v_rooms) then o.result end, v.error, v.reason
  from pgjobs.dependencies as d
  left join pgjobs.task as v on v.id = d.after_id
  left join pgjobs.outcomes as o on o.task_id = d.after_id
  where d.task_id = list_parents.task_id and d.kind = 'parent'
  order by d.place;
end
$$;

comment on function pgjobs.list_parents is
  'The parents of a task with their results. Example: select name, status, result from pgjobs.list_parents(42)';
