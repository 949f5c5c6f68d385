-- Asks for NOTIFY pgjobs.events about the next event, and answers the cursor of
-- now, for readers that start here. Whoever was told should go on reading for a
-- while before asking again, and look from time to time all the same. A standby
-- cannot notify anybody, so there only looking helps.
create function pgjobs.watch_events()
returns table (cursor text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_until bigint := extract(epoch from clock_timestamp())::bigint + 60;
begin
  if not pg_is_in_recovery() and (select s.last_value from pgjobs.events_wanted_until as s) < v_until - 30 then
    perform setval('pgjobs.events_wanted_until', v_until);
  end if;
  return query select pgjobs._feed_snapshot()::text;
end
$$;

comment on function pgjobs.watch_events is
  'Asks to be told of the next event. Example: listen "pgjobs.events"; select cursor from pgjobs.watch_events()';
