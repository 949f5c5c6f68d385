-- Scan floors: below which a lane holds nothing worth looking at.
--
-- Entries taken before leave dead versions behind, and while somebody holds a
-- transaction open nobody can remove them; looking at them again on every claim
-- is what makes a queue crawl. The floor lives in a session setting, because it
-- only describes the data: a wrong one is slow, never wrong, a rollback takes it
-- back, and strangers behind a pooler may share it. It expires after a second,
-- so that late commits and returned tasks are found.
create function pgjobs.floor_get(lane text, clock bigint, out floor bigint, out expires bigint)
language plpgsql stable
as $$
declare
  v_kept text := current_setting('pgjobs.floor_' || lane, true);
begin
  -- RESET ALL leaves an empty string, not null.
  if v_kept is null or v_kept = '' then
    return;
  end if;
  expires := split_part(v_kept, '/', 2)::bigint;
  if expires > clock then
    floor := split_part(v_kept, '/', 1)::bigint;
  end if;
end
$$;

comment on function pgjobs.floor_get is
  'The floor this session remembers, null when it has expired. Example: select pgjobs.floor_get(''1_5'', 0)';

create function pgjobs.floor_set(lane text, floor bigint, expires bigint)
returns void
language plpgsql volatile
as $$
begin
  perform set_config('pgjobs.floor_' || lane, floor || '/' || expires, false);
end
$$;

comment on function pgjobs.floor_set is
  'Remembers a floor in this session. Example: select pgjobs.floor_set(''waiting'', 100, 1767225600000)';

create function pgjobs.clock_ms()
returns bigint
language sql volatile
return (extract(epoch from clock_timestamp()) * 1000)::bigint;

comment on function pgjobs.clock_ms is 'Real time in milliseconds, for floors only. Example: select pgjobs.clock_ms()';

-- Floors that are times travel as microseconds: how a time is written depends on
-- the session's settings.
create function pgjobs.micros(moment timestamptz)
returns bigint
language sql immutable
return (extract(epoch from moment) * 1000000)::bigint;

comment on function pgjobs.micros is 'A time in microseconds since 1970. Example: select pgjobs.micros(pgjobs.now())';

create function pgjobs.moment(micros bigint)
returns timestamptz
language sql immutable
return coalesce(timestamptz 'epoch' + micros * interval '1 microsecond', '-infinity');

comment on function pgjobs.moment is
  'The time of so many microseconds; null is before all others. Example: select pgjobs.moment(pgjobs.micros(pgjobs.now()))';
