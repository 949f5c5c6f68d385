-- Jobs visible from a room (its own, @global and @internal), or all, newest
-- first. Retired ones are never shown, archived ones on request.
create function pgjobs.list_jobs(
  room text default null,
  include_archived boolean default false,
  page_size integer default 50,
  page_offset integer default 0
)
returns setof pgjobs.job
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
begin
  perform pgjobs._check_page(list_jobs.page_size, list_jobs.page_offset);
  if list_jobs.room is not null then
    perform pgjobs._check_room(list_jobs.room);
    perform pgjobs._look_into(list_jobs.room);
  end if;
  return query
  select v.*
  from pgjobs.job as v
  where v.deleted_at is null
    and (v.archived_at is null or list_jobs.include_archived)
    and (
      (list_jobs.room is null and (v_rooms is null or v.room = any (v_rooms)))
      or v.room in (list_jobs.room, '@global')
      or (v.room = '@internal' and list_jobs.room <> '@global')
    )
  order by v.id desc
  limit list_jobs.page_size offset list_jobs.page_offset;
end
$$;

comment on function pgjobs.list_jobs is
  'Jobs visible from a room. Example: select full_name, workers from pgjobs.list_jobs(''lab-7'')';
