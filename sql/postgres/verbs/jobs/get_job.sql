-- One job, also when it is archived or retired; or, with a room, only one that
-- is not retired and visible from there.
create function pgjobs.get_job(job text, room text default null)
returns setof pgjobs.job
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if get_job.room is not null then
    perform pgjobs._look_into(get_job.room);
  end if;
  return query
  select v.*
  from pgjobs.job as v
  where v.id = (pgjobs._find_job(get_job.job)).id
    and (get_job.room is null or (v.deleted_at is null and pgjobs._is_visible(v.room, get_job.room)));
  if not found then
    if exists (
      select from pgjobs.jobs as j where j.id = (pgjobs._find_job(get_job.job)).id and j.deleted_at is null
    ) then
      perform pgjobs._refuse_room(get_job.job, get_job.room);
    end if;
    perform pgjobs._refuse('job-not-found', format('Job %s does not exist', get_job.job), 'It was retired.');
  end if;
end
$$;

comment on function pgjobs.get_job is
  'One job by address, number or public id. Example: select * from pgjobs.get_job(''@global:modifiers:Rotate'')';
