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
-- What is due by now need not be there by now: a task is due when its submit
-- began, and there when that has committed. So floors stay behind the present by
-- longer than commits usually take; whatever commits later is late.
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
-- the session's settings. What is before the year 1 comes back as before all others.
create function pgjobs.micros(moment timestamptz)
returns bigint
language sql stable
return (date_part('epoch', pgjobs._known_moment(moment)) * 1000000)::bigint;

comment on function pgjobs.micros is 'A time in microseconds since 1970. Example: select pgjobs.micros(pgjobs.now())';

create function pgjobs.moment(micros bigint)
returns timestamptz
language sql immutable
return coalesce(
  to_timestamp(nullif(greatest(micros, -62135596800000000), -62135596800000000) / 1000000.0::double precision), '-infinity'
);

comment on function pgjobs.moment is
  'The time of so many microseconds; null is before all others. Example: select pgjobs.moment(pgjobs.micros(pgjobs.now()))';

create function pgjobs.settled(now timestamptz)
returns timestamptz
language sql stable
return now - interval '50 milliseconds';

comment on function pgjobs.settled is
  'By when everything due has been committed, as a rule. Example: select pgjobs.settled(pgjobs.now())';

-- Remembers that nothing worth looking at is below this task, as far as that is settled.
create function pgjobs.floor_at(lane text, due_at timestamptz, task_id bigint, now timestamptz, expires bigint)
returns text
language sql volatile
return pgjobs.floor_set(lane, pgjobs.micros(least(due_at, pgjobs.settled(now))), expires, coalesce(task_id, 0));

comment on function pgjobs.floor_at is
  'Remembers a place in line in this session. Example: select pgjobs.floor_at(''1_5'', pgjobs.now(), 42, pgjobs.now(), 0)';

-- Moves a lane's floor up to the first task that was taken; what others are just
-- taking below it comes into view again when the floor expires, should they fail.
create function pgjobs.floor_raise(lane text, floor bigint[], due_at timestamptz, task_id bigint, now timestamptz)
returns text
language sql volatile
return case
  when task_id = floor[2] then ''
  else pgjobs.floor_at(lane, due_at, task_id, now, floor[3])
end;

comment on function pgjobs.floor_raise is
  'Moves the floor of a lane up. Example: select pgjobs.floor_raise(''1_5'', array[0, 0, 0], pgjobs.now(), 42, pgjobs.now())';

create function pgjobs.look_cost(clock bigint)
returns bigint
language sql stable
return case
  when nullif(split_part(current_setting('pgjobs.look_cost', true), '/', 2), '')::bigint > clock
    then split_part(current_setting('pgjobs.look_cost', true), '/', 1)::bigint
  else 0
end;

comment on function pgjobs.look_cost is
  'Milliseconds of the dearest recent look at lane heads in this session. Example: select pgjobs.look_cost(pgjobs.clock_ms())';

create function pgjobs.next_look(clock bigint)
returns bigint
language sql stable
return clock + greatest(1000, least(20 * pgjobs.look_cost(clock), 10000));

comment on function pgjobs.next_look is
  'When lanes are looked at again from the bottom. Example: select pgjobs.next_look(pgjobs.clock_ms())';
