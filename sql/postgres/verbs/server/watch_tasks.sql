-- watch_task for many: asks for NOTIFY pgjobs.ended for each that has not ended,
-- and answers those that have, or do not exist.
create function pgjobs.watch_tasks(task_ids bigint[])
returns table (task_id bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_until bigint := extract(epoch from clock_timestamp())::bigint + 300;
begin
  if cardinality(watch_tasks.task_ids) > 10000 then
    perform pgjobs._refuse('validation-error', 'task_ids has at most 10000 entries');
  end if;
  -- In order, so that two watchers of the same tasks cannot deadlock.
  insert into pgjobs.watched (task_id, since)
  select distinct i.id, pgjobs._now()
  from unnest(watch_tasks.task_ids) as i (id)
  where exists (select from pgjobs.tasks as t where t.id = i.id)
    and not exists (select from pgjobs.outcomes as o where o.task_id = i.id)
    and not exists (select from pgjobs.watched as w where w.task_id = i.id)
  order by i.id
  on conflict do nothing;
  if (select s.last_value from pgjobs.watched_until as s) < v_until - 60 then
    perform setval('pgjobs.watched_until', v_until);
  end if;
  return query
  select i.id
  from unnest(watch_tasks.task_ids) as i (id)
  where exists (select from pgjobs.outcomes as o where o.task_id = i.id)
    or not exists (select from pgjobs.tasks as t where t.id = i.id);
end
$$;

comment on function pgjobs.watch_tasks is
  'Asks to be told when tasks end. Example: listen "pgjobs.ended"; select * from pgjobs.watch_tasks(array[41, 42])';
