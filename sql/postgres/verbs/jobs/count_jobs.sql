-- How many jobs list_jobs would list.
create function pgjobs.count_jobs(room text default null, include_archived boolean default false)
returns table (total integer, relation text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if count_jobs.room is not null then
    perform pgjobs._check_room(count_jobs.room);
    perform pgjobs._look_into(count_jobs.room);
  end if;
  return query
  select count(*)::integer, 'eq'
  from pgjobs.jobs as j
  where j.deleted_at is null
    and (j.archived_at is null or count_jobs.include_archived)
    and case
      when count_jobs.room is not null then pgjobs._is_visible(j.room, count_jobs.room)
      else v_rooms is null or j.room = any (v_rooms)
    end;
end
$$;

comment on function pgjobs.count_jobs is
  'How many jobs are visible from a room. Example: select total from pgjobs.count_jobs(''lab-7'')';
