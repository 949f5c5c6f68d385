-- Scan floors: below which a lane holds nothing worth looking at.
--
-- Entries taken before leave dead versions behind, and while somebody holds a
-- transaction open nobody can remove them; looking at them again on every claim
-- is what makes a queue crawl. The floor lives in a session setting, because it
-- only describes the data: a wrong one is slow, never wrong, a rollback takes it
-- back, and strangers behind a pooler may share it. It expires after a second,
-- so that late commits and returned tasks are found. Where it is a time it names
-- a task too: a batch of ten thousand is due in the same microsecond.
--
-- Kept as floor/task/expires. These are SQL functions without settings of their
-- own so that they are inlined: claims call them for every lane.
create function pgjobs.floor_get(lane text, clock bigint)
returns bigint[]
language sql stable
return case
  -- RESET ALL leaves an empty string, not null.
  when nullif(split_part(current_setting('pgjobs.floor_' || lane, true), '/', 3), '')::bigint > clock
    then string_to_array(current_setting('pgjobs.floor_' || lane, true), '/')::bigint[]
end;

comment on function pgjobs.floor_get is
  'Floor, task and expiry this session remembers, null when expired. Example: select pgjobs.floor_get(''1_5'', 0)';

create function pgjobs.floor_set(lane text, floor bigint, expires bigint, task_id bigint default 0)
returns text
language sql volatile
return set_config('pgjobs.floor_' || lane, floor || '/' || task_id || '/' || expires, false);

comment on function pgjobs.floor_set is
  'Remembers a floor in this session. Example: select pgjobs.floor_set(''waiting'', 100, 1767225600000)';

create function pgjobs.clock_ms()
returns bigint
language sql volatile
return (date_part('epoch', clock_timestamp()) * 1000)::bigint;

comment on function pgjobs.clock_ms is 'Real time in milliseconds, for floors only. Example: select pgjobs.clock_ms()';

-- Floors that are times travel as microseconds: how a time is written depends on
-- the session's settings.
create function pgjobs.micros(moment timestamptz)
returns bigint
language sql stable
return (date_part('epoch', moment) * 1000000)::bigint;

comment on function pgjobs.micros is 'A time in microseconds since 1970. Example: select pgjobs.micros(pgjobs.now())';

create function pgjobs.moment(micros bigint)
returns timestamptz
language sql immutable
return coalesce(to_timestamp(micros / 1000000.0::double precision), '-infinity');

comment on function pgjobs.moment is
  'The time of so many microseconds; null is before all others. Example: select pgjobs.moment(pgjobs.micros(pgjobs.now()))';
