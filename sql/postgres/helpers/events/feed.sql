-- What a reader of events sees now, as a snapshot that can be kept in a cursor:
-- whatever it shows is complete, whatever commits later is not in it.
--
-- A caller that has written is not shown its own events, which may still roll
-- back. On a standby Postgres lists no running transactions, so there only what
-- is older than all of them counts.
create function pgjobs._feed_snapshot()
returns pg_snapshot
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_now pg_snapshot := pg_current_snapshot();
  v_own xid8 := pg_current_xact_id_if_assigned();
begin
  if pg_is_in_recovery() then
    return format('%1$s:%1$s:', pg_snapshot_xmin(v_now))::pg_snapshot;
  elsif v_own is null or not pg_visible_in_snapshot(v_own, v_now) then
    return v_now;
  end if;
  return format(
    '%s:%s:%s', pg_snapshot_xmin(v_now), pg_snapshot_xmax(v_now),
    (select string_agg(r.xid::text, ',' order by r.xid) from (select pg_snapshot_xip(v_now) union all select v_own) as r (xid))
  )::pg_snapshot;
end
$$;

comment on function pgjobs._feed_snapshot is 'What a reader of events sees now. Example: select pgjobs._feed_snapshot()';

-- Lets no crash take back what a reader is about to be shown: commits that did not
-- wait for the disk are visible before they are safe, and a crash would give their
-- numbers, and those of transactions that rolled back, to others, whom the
-- reader's cursor passes over. A record of the reader's own puts all before it on
-- the disk before the reader gets its answer.
create function pgjobs._flush_before_reading()
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if pg_is_in_recovery() or pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() then
    return;
  end if;
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'local', true);
  end if;
  perform pg_logical_emit_message(true, 'pgjobs', 'read');
end
$$;

comment on function pgjobs._flush_before_reading is
  'Puts on the disk what a reader of events has seen. Example: see pgjobs.list_events, which calls it last';

-- Events of `upto` that are not in `since`, after a place among them. A snapshot
-- leaves out whatever was running then, one look-up each, and whatever began
-- later: two index walks, and a transaction that stays open costs a reader nothing.
create function pgjobs._events_between(
  since pg_snapshot, upto pg_snapshot, after_xid xid8, after_id bigint,
  of_task bigint, of_job integer, of_room text, page_size integer
)
returns setof pgjobs.events
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_late xid8[] := array(
    select r.xid from pg_snapshot_xip(since) as r (xid) where pg_visible_in_snapshot(r.xid, upto)
  );
  v_rooms text[] := pgjobs._rooms();
  v_first xid8 := greatest(pg_snapshot_xmax(since), after_xid);
  v_found bigint;
begin
  return query
  select e.* from pgjobs.events as e
  where e.xid = any (v_late) and (e.xid, e.id) > (after_xid, after_id)
    and (_events_between.of_task is null or e.task_id = _events_between.of_task)
    and (_events_between.of_job is null or e.job_id = _events_between.of_job)
    and (_events_between.of_room is null or e.room = _events_between.of_room)
    and (v_rooms is null or e.room = any (v_rooms))
  order by e.xid, e.id
  limit _events_between.page_size;
  get diagnostics v_found = row_count;
  return query
  select e.* from pgjobs.events as e
  where e.xid >= v_first and e.xid < pg_snapshot_xmax(upto) and (e.xid, e.id) > (after_xid, after_id)
    and pg_visible_in_snapshot(e.xid, upto)
    and (_events_between.of_task is null or e.task_id = _events_between.of_task)
    and (_events_between.of_job is null or e.job_id = _events_between.of_job)
    and (_events_between.of_room is null or e.room = _events_between.of_room)
    and (v_rooms is null or e.room = any (v_rooms))
  order by e.xid, e.id
  limit _events_between.page_size - v_found;
end
$$;

comment on function pgjobs._events_between is
  'Events of one snapshot that are not in another. Example: see pgjobs.list_events, whose cursors name both';

-- NOTIFY takes a cluster-wide lock until commit, so only the first event after a
-- reader asked is announced: while readers are awake they look by themselves.
-- The wish is gone even if the transaction rolls back or takes its time; that
-- costs a reader the wait for its next look. Reading the sequence costs the same
-- however long somebody holds a transaction open.
create function pgjobs._announce_events()
returns trigger
language plpgsql
as $$
begin
  if (select s.last_value from pgjobs.events_wanted_until as s) >= extract(epoch from clock_timestamp()) then
    perform setval('pgjobs.events_wanted_until', 0);
    perform pg_notify('pgjobs.events', '');
  end if;
  return null;
end
$$;

comment on function pgjobs._announce_events is
  'Trigger: wakes whoever reads events. Example: fires on insert into pgjobs.events';
