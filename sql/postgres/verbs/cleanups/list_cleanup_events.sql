-- What happened to the cleanup task of a run, the last of it, oldest first.
create function pgjobs.list_cleanup_events(run_id uuid, page_size integer default 500)
returns setof pgjobs.incomplete_cleanup_events
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_task bigint := pgjobs._find_cleanup(list_cleanup_events.run_id);
begin
  perform pgjobs._check_page(list_cleanup_events.page_size, 0);
  return query
  select l.*
  from (
    select e.*
    from pgjobs.incomplete_cleanup_events as e
    where e.task_id = v_task
    order by e.seq desc
    limit list_cleanup_events.page_size
  ) as l
  order by l.seq;
end
$$;

comment on function pgjobs.list_cleanup_events is
  'What happened to a cleanup task. Example: select seq, kind, message from pgjobs.list_cleanup_events(''<run id>'')';
