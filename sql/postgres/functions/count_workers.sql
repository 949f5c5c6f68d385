-- How many workers list_workers would list.
create function pgjobs.count_workers(room text default null)
returns table (total integer, relation text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select count(*)::integer, 'eq'
  from pgjobs.workers as w
  where count_workers.room is null or exists (
    select from pgjobs.worker_jobs as l
    join pgjobs.jobs as j on j.id = l.job_id
    where l.worker_id = w.id and j.deleted_at is null and j.room in (count_workers.room, '@global', '@internal')
  );
end
$$;

comment on function pgjobs.count_workers is
  'How many workers there are. Example: select total from pgjobs.count_workers(''lab-7'')';
