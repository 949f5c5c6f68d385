-- Tasks, newest first, that fit every filter given. `cursor` pages on from where
-- next_cursor says a page ended, `before` from a task; both stay fast at any depth.
create function pgjobs.list_tasks(
  room text default null,
  job text default null,
  status text default null,
  owner text default null,
  project text default null,
  before bigint default null,
  page_size integer default 50,
  page_offset integer default 0,
  cursor text default null
)
returns setof pgjobs.task
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_before bigint := least(list_tasks.before, pgjobs._place_of_cursor(list_tasks.cursor));
  v_wanted bigint := list_tasks.page_size::bigint + list_tasks.page_offset;
  v_rooms text[] := pgjobs._rooms();
  v_job integer;
  v_ids bigint[];
begin
  perform pgjobs._check_page(list_tasks.page_size, list_tasks.page_offset);
  if list_tasks.status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored') then
    perform pgjobs._refuse('validation-error', format('Unknown status %s', quote_literal(list_tasks.status)));
  end if;
  if list_tasks.job is not null then
    v_job := (pgjobs._find_job(list_tasks.job)).id;
  end if;
  if list_tasks.room is not null then
    perform pgjobs._enter(list_tasks.room);
  end if;
  if v_rooms is not null then
    v_ids := array(select n.id from pgjobs._newest_in_rooms(
      case when list_tasks.room is null then v_rooms else array[list_tasks.room] end,
      list_tasks.owner, list_tasks.project, v_job, list_tasks.status, v_before, v_wanted
    ) as n (id));
  elsif list_tasks.owner is null and list_tasks.project is null and list_tasks.room is not null then
    v_ids := array(select p.id from pgjobs._page_of_tasks(
      list_tasks.room, case when v_job is null then pgjobs._jobs_used_in(list_tasks.room) else array[v_job] end,
      list_tasks.status, v_before, v_wanted
    ) as p (id));
  elsif list_tasks.owner is null and list_tasks.project is null and v_job is null then
    v_ids := array(select p.id from pgjobs._newest_anywhere(list_tasks.status, v_before, v_wanted) as p (id));
  elsif list_tasks.owner is null and list_tasks.project is null then
    v_ids := array(select p.id from pgjobs._newest_of_job(v_job, list_tasks.status, v_before, v_wanted) as p (id));
  else
    v_ids := array(select p.id from pgjobs._newest_owned(
      list_tasks.owner, list_tasks.project, list_tasks.room, v_job, list_tasks.status, v_before, v_wanted
    ) as p (id));
  end if;
  return query
  select v.*
  from pgjobs.task as v
  where v.id = any (v_ids)
  order by v.id desc
  limit list_tasks.page_size offset list_tasks.page_offset;
end
$$;

comment on function pgjobs.list_tasks is
  'Tasks, newest first. Example: select id, job, status, error from pgjobs.list_tasks(status => ''failed'')';
