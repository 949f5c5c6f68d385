-- Scan floors: below which a lane holds nothing worth looking at.
--
-- Entries taken before leave dead versions behind, and while somebody holds a
-- transaction open nobody can remove them; looking at them again on every claim
-- is what makes a queue crawl. The floor lives in a session setting, because it
-- only describes the data: a rollback takes it back, and strangers behind a pooler
-- may share it. It expires after a second, so that late commits are found. Where
-- it is a time it names a task too: a batch of ten thousand is due in the same
-- microsecond.
--
-- What is due by now need not be there by now: a task is due when its submit
-- began, and there when that has committed. So floors stay behind the present by
-- longer than commits usually take; whatever commits later is late.
--
-- Whatever enters a lane below that, because it was submitted for a time in the past
-- or given back, says so: no floor is believed that was noted before, or so soon
-- after that the entry may not have been committed.
--
-- Kept as floor/task/expires/noted. Anybody can write a session setting: what cannot
-- be read, lasts longer than any floor or is above the present is no floor. Reading is
-- done where an error of it is caught; a regular expression that keeps one out costs a
-- claim of one task 15 %.
--
-- These are SQL functions without settings of their own so that they are inlined:
-- claims call them for every lane.
create function pgjobs._floor_read(lane text)
returns bigint[]
language sql stable
return string_to_array(current_setting('pgjobs.floor_' || lane, true), '/')::bigint[];

comment on function pgjobs._floor_read is
  'Floor, task, expiry and when it was noted, as this session remembers them. Example: select pgjobs._floor_read(''1_5'')';

create function pgjobs._floor_holds(floor bigint[], clock bigint, noted_after bigint, highest bigint)
returns boolean
language sql immutable
return floor[3] > clock and floor[3] <= clock + 10000 and floor[4] > noted_after and floor[1] <= highest;

comment on function pgjobs._floor_holds is
  'Whether a floor may be believed. Example: select pgjobs._floor_holds(array[0, 0, 2, 1], 1, 0, 0)';

-- For what nothing enters below.
create function pgjobs._floor_get(lane text, clock bigint)
returns bigint[]
language plpgsql stable
as $$
declare
  v_floor bigint[];
begin
  v_floor := pgjobs._floor_read(_floor_get.lane);
  return case when pgjobs._floor_holds(v_floor, _floor_get.clock, 0, 9223372036854775807) then v_floor end;
exception when data_exception then
  return null;
end
$$;

comment on function pgjobs._floor_get is
  'Floor, task and expiry this session remembers, null when expired. Example: select pgjobs._floor_get(''waiting'', 0)';

create function pgjobs._floor_set(lane text, floor bigint, expires bigint, task_id bigint default 0, noted bigint default 1)
returns text
language sql volatile
return set_config('pgjobs.floor_' || lane, floor || '/' || task_id || '/' || expires || '/' || noted, false);

comment on function pgjobs._floor_set is
  'Remembers a floor in this session. Example: select pgjobs._floor_set(''waiting'', 100, 1767225600000)';

create function pgjobs._clock_ms()
returns bigint
language sql volatile
return (date_part('epoch', clock_timestamp()) * 1000)::bigint;

comment on function pgjobs._clock_ms is 'Real time in milliseconds, for floors only. Example: select pgjobs._clock_ms()';

-- Floors that are times travel as microseconds: how a time is written depends on
-- the session's settings. What is before the year 1 comes back as before all others.
create function pgjobs._micros(moment timestamptz)
returns bigint
language sql stable
return (date_part('epoch', pgjobs._known_moment(moment)) * 1000000)::bigint;

comment on function pgjobs._micros is 'A time in microseconds since 1970. Example: select pgjobs._micros(pgjobs._now())';

create function pgjobs._timestamp(micros bigint)
returns timestamptz
language sql immutable
return coalesce(
  to_timestamp(nullif(greatest(micros, -62135596800000000), -62135596800000000) / 1000000.0::double precision), '-infinity'
);

comment on function pgjobs._timestamp is
  'The time of so many microseconds; null is before all others. Example: select pgjobs._timestamp(pgjobs._micros(pgjobs._now()))';

create function pgjobs._settled(now timestamptz)
returns timestamptz
language sql stable
return now - interval '50 milliseconds';

comment on function pgjobs._settled is
  'By when everything due has been committed, as a rule. Example: select pgjobs._settled(pgjobs._now())';

-- Remembers that nothing worth looking at is below this task, as far as that is settled.
create function pgjobs._floor_at(
  lane text, due_at timestamptz, task_id bigint, now timestamptz, expires bigint, noted bigint
)
returns text
language sql volatile
return pgjobs._floor_set(
  lane, greatest(pgjobs._micros(least(due_at, pgjobs._settled(now))), 0), expires, coalesce(task_id, 0), noted
);

comment on function pgjobs._floor_at is
  'Remembers a queue position in this session. Example: select pgjobs._floor_at(''1_5'', pgjobs._now(), 42, pgjobs._now(), 0, 0)';

-- Moves a lane's floor up to the first task that was taken; what others are just
-- taking below it comes into view again when the floor expires, should they fail.
create function pgjobs._floor_raise(
  lane text, floor_id bigint, expires bigint, noted bigint, due_at timestamptz, task_id bigint, now timestamptz
)
returns text
language sql volatile
return case when task_id = floor_id then '' else pgjobs._floor_at(lane, due_at, task_id, now, expires, noted) end;

comment on function pgjobs._floor_raise is
  'Moves the floor of a lane up. Example: select pgjobs._floor_raise(''1_5'', 0, 0, 0, pgjobs._now(), 42, pgjobs._now())';

-- Tells every session that a task has entered a lane below its floor. Seen before
-- the entry is: setting a sequence waits for no commit.
create function pgjobs._floors_are_wrong()
returns bigint
language sql volatile
return setval('pgjobs.low_entries', pgjobs._clock_ms());

comment on function pgjobs._floors_are_wrong is
  'Tells sessions to forget their floors. Example: see pgjobs.submit_tasks, which calls it for a time in the past';

-- Floors noted by then are not believed: as long as after the last low entry as
-- floors stay behind the present.
create function pgjobs._floors_wrong_until()
returns bigint
language sql volatile
return coalesce(pg_sequence_last_value('pgjobs.low_entries'::regclass), 0) + 50;

comment on function pgjobs._floors_wrong_until is
  'Until when floors were wrong, in milliseconds since 1970. Example: select pgjobs._floors_wrong_until()';

create function pgjobs._look_cost(clock bigint)
returns bigint
language sql stable
return coalesce((pgjobs._floor_get('look_cost', clock))[1], 0);

comment on function pgjobs._look_cost is
  'Milliseconds of the dearest recent look at lane heads in this session. Example: select pgjobs._look_cost(pgjobs._clock_ms())';

-- Whether looking below the floors has become too expensive for a claim that would come back empty.
create function pgjobs._is_looking_dear()
returns boolean
language sql volatile
return pgjobs._look_cost(pgjobs._clock_ms()) > 20;

comment on function pgjobs._is_looking_dear is
  'Whether looks at lane heads have become expensive. Example: select pgjobs._is_looking_dear()';

create function pgjobs._next_look(clock bigint)
returns bigint
language sql stable
return clock + greatest(1000, least(20 * pgjobs._look_cost(clock), 10000));

comment on function pgjobs._next_look is
  'When lanes are looked at again from the bottom. Example: select pgjobs._next_look(pgjobs._clock_ms())';
