-- How many schedules list_schedules would list.
create function pgjobs.count_schedules(room text default null, job text default null)
returns table (total integer, relation text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_job integer := case when count_schedules.job is not null then (pgjobs._find_job(count_schedules.job)).id end;
begin
  if count_schedules.room is not null then
    perform pgjobs._check_room(count_schedules.room);
    perform pgjobs._enter(count_schedules.room);
  end if;
  return query
  select count(*)::integer, 'eq'
  from pgjobs.schedules as s
  where (count_schedules.room is null or s.room = count_schedules.room)
    and (v_rooms is null or s.room = any (v_rooms))
    and (v_job is null or s.job_id = v_job);
end
$$;

comment on function pgjobs.count_schedules is 'How many schedules there are. Example: select total from pgjobs.count_schedules(''lab-7'')';
