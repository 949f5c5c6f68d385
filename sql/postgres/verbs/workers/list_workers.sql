-- Registered workers, newest first: all, or those serving a job visible from a room.
create function pgjobs.list_workers(
  room text default null, page_size integer default 50, page_offset integer default 0
)
returns table (
  id uuid,
  name text,
  owner text,
  registered_at timestamptz,
  last_heartbeat_at timestamptz,
  job_count integer,
  is_alive boolean
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
begin
  perform pgjobs._check_page(list_workers.page_size, list_workers.page_offset);
  if list_workers.room is not null then
    perform pgjobs._look_into(list_workers.room);
  end if;
  return query
  select
    w.id, w.name, w.owner, w.registered_at, w.last_heartbeat_at,
    (
      select count(*)::integer
      from pgjobs.worker_jobs as l
      join pgjobs.jobs as j on j.id = l.job_id
      where l.worker_id = w.id and (v_rooms is null or j.room in ('@global', '@internal') or j.room = any (v_rooms))
    ),
    w.last_heartbeat_at > pgjobs._now() - (select s.worker_timeout from pgjobs.settings as s)
  from pgjobs.workers as w
  where (list_workers.room is null and v_rooms is null) or exists (
    select from pgjobs.worker_jobs as l
    join pgjobs.jobs as j on j.id = l.job_id
    where l.worker_id = w.id
      and case
        when list_workers.room is null then j.room = any (v_rooms)
        else j.deleted_at is null and j.room in (list_workers.room, '@global', '@internal')
      end
  )
  order by w.registered_at desc, w.id
  limit list_workers.page_size offset list_workers.page_offset;
end
$$;

comment on function pgjobs.list_workers is 'Registered workers. Example: select id, name, is_alive from pgjobs.list_workers()';
