-- How far this server's log has come, in bytes, and whether it only follows another's:
-- a standby that has come as far as its primary was at some moment shows everything
-- that was committed by then.
--
-- At the beginning of a page the next record is written behind the page's header, and
-- the last one ended before it: a standby that has read everything is at the latter.
create function pgjobs.replication_position()
returns table (is_standby boolean, written bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_is_standby boolean := pg_is_in_recovery();
  v_written bigint := case when v_is_standby then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end - '0/0'::pg_lsn;
  v_in_page bigint := v_written % current_setting('wal_block_size')::bigint;
begin
  return query select v_is_standby, v_written - case when v_in_page in (24, 40) then v_in_page else 0 end;
end
$$;

comment on function pgjobs.replication_position is
  'How far the log of this server has come. Example: select is_standby, written from pgjobs.replication_position()';
