-- Events after a cursor, for readers that must not miss one. Pass the last row's
-- `cursor` to go on; null starts at the oldest kept event.
--
-- Transactions commit out of order, so a number cannot tell what was read: a
-- cursor names the snapshots between which a reader is, and its place. Each event
-- is shown as soon as it is committed, once, and nobody waits for anybody; those
-- of one transaction come together, in order.
create function pgjobs.list_events(
  after text default null,
  of_task bigint default null,
  of_job text default null,
  of_room text default null,
  page_size integer default 500
)
returns table (
  cursor text,
  txid text,
  at timestamptz,
  kind text,
  task_id bigint,
  task_uuid uuid,
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
  v_now pg_snapshot := pgjobs._feed_snapshot();
  v_parts text[] := string_to_array(list_events.after, '/');
  v_since pg_snapshot := coalesce(v_parts[1], '3:3:');
  v_upto pg_snapshot := coalesce(v_parts[2], v_now::text);
  v_xid xid8 := coalesce(split_part(v_parts[3], '-', 1), '0');
  v_id bigint := coalesce(split_part(v_parts[3], '-', 2), '0');
  v_job integer;
begin
  perform pgjobs._check_page(list_events.page_size, 0);
  if cardinality(v_parts) not in (1, 3) then
    perform pgjobs._refuse('validation-error', format('Malformed cursor %s', quote_literal(left(list_events.after, 50))));
  end if;
  if list_events.of_job is not null then
    v_job := (pgjobs._find_job(list_events.of_job)).id;
  end if;
  if list_events.of_room is not null then
    perform pgjobs._enter(list_events.of_room);
  end if;
  loop
    -- A standby may be behind the server that gave out the cursor.
    exit when pg_snapshot_xmax(v_upto) < pg_snapshot_xmax(v_since);
    return query
    select
      v_since || '/' || v_upto || '/' || e.xid || '-' || e.id, e.xid::text, e.at, e.kind, e.task_id,
      pgjobs.task_uuid(e.task_id), j.full_name, e.room, e.status, e.worker_id, e.actor, e.message, e.fields
    from pgjobs._events_between(
      v_since, v_upto, v_xid, v_id, list_events.of_task, v_job, list_events.of_room, list_events.page_size
    ) as e
    left join pgjobs.jobs as j on j.id = e.job_id
    order by e.xid, e.id;
    exit when found or v_upto::text = v_now::text;
    v_since := v_upto;
    v_upto := v_now;
    v_xid := '0';
    v_id := 0;
  end loop;
  perform pgjobs._flush_before_reading();
end
$$;

comment on function pgjobs.list_events is
  'Events after a cursor. Example: select cursor, at, kind, task_id, message from pgjobs.list_events(of_task => 42)';
