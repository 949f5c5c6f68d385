-- Schedules of a room, of a job, or all: those due next first, the paused ones last.
create function pgjobs.list_schedules(
  room text default null, job text default null, page_size integer default 50, page_offset integer default 0
)
returns setof pgjobs.schedule
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_job integer := case when list_schedules.job is not null then (pgjobs._find_job(list_schedules.job)).id end;
begin
  perform pgjobs._check_page(list_schedules.page_size, list_schedules.page_offset);
  if list_schedules.room is not null then
    perform pgjobs._check_room(list_schedules.room);
    perform pgjobs._enter(list_schedules.room);
  end if;
  return query
  select v.*
  from pgjobs.schedule as v
  where (list_schedules.room is null or v.room = list_schedules.room)
    and (v_rooms is null or v.room = any (v_rooms))
    and (v_job is null or v.job_id = v_job)
  order by v.next_run_at, v.full_name, v.id
  limit list_schedules.page_size offset list_schedules.page_offset;
end
$$;

comment on function pgjobs.list_schedules is
  'Schedules, those due next first. Example: select full_name, next_run_at, state from pgjobs.list_schedules()';
