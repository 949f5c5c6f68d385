-- Events after a cursor, oldest first, for readers that must not miss one.
--
-- Shows only what is older than every running transaction: identity values
-- commit out of order, and a reader asking for id > cursor would miss the late.
-- Pass the last row's `cursor` to go on; null starts at the oldest kept event.
create function pgjobs.list_events(
  after text default null,
  of_task bigint default null,
  of_job text default null,
  of_room text default null,
  page_size integer default 500
)
returns table (
  cursor text,
  at timestamptz,
  kind text,
  task_id bigint,
  job text,
  room text,
  status text,
  worker_id uuid,
  actor text,
  message text,
  fields jsonb
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_xid xid8 := '0'::xid8;
  v_id bigint := 0;
  v_job integer;
begin
  perform pgjobs.check_page(list_events.page_size, 0);
  if list_events.after is not null then
    if list_events.after !~ '^[0-9]{1,19}-[0-9]{1,18}$' then
      perform pgjobs.refuse('validation-error', format('Malformed cursor %s', quote_literal(left(list_events.after, 50))));
    end if;
    v_xid := split_part(list_events.after, '-', 1)::xid8;
    v_id := split_part(list_events.after, '-', 2)::bigint;
  end if;
  if list_events.of_job is not null then
    v_job := (pgjobs.find_job(list_events.of_job)).id;
  end if;
  return query
  select
    e.xid || '-' || e.id, e.at, e.kind, e.task_id, j.full_name, e.room, e.status, e.worker_id, e.actor, e.message, e.fields
  from pgjobs.events as e
  left join pgjobs.jobs as j on j.id = e.job_id
  where (e.xid, e.id) > (v_xid, v_id)
    and e.xid < pg_snapshot_xmin(pg_current_snapshot())
    and (list_events.of_task is null or e.task_id = list_events.of_task)
    and (v_job is null or e.job_id = v_job)
    and (list_events.of_room is null or e.room = list_events.of_room)
  order by e.xid, e.id
  limit list_events.page_size;
end
$$;

comment on function pgjobs.list_events is
  'Events after a cursor. Example: select cursor, at, kind, task_id, message from pgjobs.list_events(of_task => 42)';
