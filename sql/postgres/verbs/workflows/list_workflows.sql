-- Workflows, newest first. `before` is the number of the last one seen, for the next page;
-- `cursor` is where next_cursor says that a page ended.
create function pgjobs.list_workflows(
  room text default null, name text default null, before bigint default null, page_size integer default 50,
  cursor text default null
)
returns setof pgjobs.workflow
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
  v_before bigint := least(list_workflows.before, pgjobs._place_of_cursor(list_workflows.cursor));
begin
  perform pgjobs._check_page(list_workflows.page_size, 0);
  if list_workflows.room is not null then
    perform pgjobs._enter(list_workflows.room);
  end if;
  return query
  select v.*
  from pgjobs.workflow as v
  where v.id = any (array(
    select f.id from pgjobs.workflows as f
    where (list_workflows.room is null or f.room = list_workflows.room)
      and (list_workflows.name is null or f.name = list_workflows.name)
      and f.id < v_before
      and (v_rooms is null or f.room = any (v_rooms))
    order by f.id desc
    limit list_workflows.page_size
  ))
  order by v.id desc;
end
$$;

comment on function pgjobs.list_workflows is
  'Workflows, newest first. Example: select id, name, status from pgjobs.list_workflows(room => ''@global'')';
