-- How many workers list_workers would list.
create function pgjobs.count_workers(room text default null)
returns table (total integer, relation text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if count_workers.room is not null then
    perform pgjobs._look_into(count_workers.room);
  end if;
  return query
  select count(*)::integer, 'eq'
  from pgjobs.workers as w
  where (count_workers.room is null and v_rooms is null) or exists (
    select from pgjobs.worker_jobs as l
    join pgjobs.jobs as j on j.id = l.job_id
    where l.worker_id = w.id
      and case
        when count_workers.room is null then j.room = any (v_rooms)
        else j.deleted_at is null and j.room in (count_workers.room, '@global', '@internal')
      end
  );
end
$$;

comment on function pgjobs.count_workers is
  'How many workers there are. Example: select total from pgjobs.count_workers(''lab-7'')';
