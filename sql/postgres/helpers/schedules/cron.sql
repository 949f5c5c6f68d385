-- What stands for no number in a field: the last day (32) and the last weekday (33)
-- of a month, the n-th (100 + ten times the day + n) and the last (n = 9) of its
-- Mondays, Tuesdays and so on. Null for anything else.
create function pgjobs._cron_mark(item text, high integer, names text[])
returns integer
language plpgsql immutable
as $$
declare
  v_parts text[] := regexp_match(item, '^([0-7]|[A-Z]{3})#([1-5])$');
begin
  return case
    when high = 31 and item = 'L' then 32
    when high = 31 and item = 'LW' then 33
    when high = 7 and item ~ '^[0-7]L$' then 109 + 10 * (left(item, 1)::integer % 7)
    when high = 7 and v_parts[1] ~ '[0-7]' then 100 + 10 * (v_parts[1]::integer % 7) + v_parts[2]::integer
    when high = 7 then 90 + 10 * array_position(names, v_parts[1]) + v_parts[2]::integer
  end;
end
$$;

comment on function pgjobs._cron_mark is
  'A mark in a field of cron that is no number. Example: select pgjobs._cron_mark(''L'', 31, null)';

create function pgjobs._cron_number(word text, low integer, names text[])
returns integer
language plpgsql immutable
as $$
begin
  return case when word ~ '^[0-9]+$' then word::integer else array_position(names, word) - 1 + low end;
end
$$;

comment on function pgjobs._cron_number is
  'The number a word of cron stands for. Example: select pgjobs._cron_number(''FEB'', 1, array[''JAN'', ''FEB''])';

-- The numbers and marks one field stands for; null where it cannot be read.
create function pgjobs._cron_field(field text, low integer, high integer, names text[] default null)
returns integer[]
language plpgsql immutable
as $$
declare
  v_item text;
  v_mark integer;
  v_parts text[];
  v_from integer;
  v_to integer;
  v_step integer;
  v_numbers integer[] := '{}';
begin
  foreach v_item in array string_to_array(field, ',') loop
    v_mark := pgjobs._cron_mark(v_item, high, names);
    if v_mark is null then
      v_parts := regexp_match(
        regexp_replace(v_item, '^\*', low || '-' || high),
        '^([0-9]{1,2}|[A-Z]{3})(?:-([0-9]{1,2}|[A-Z]{3}))?(?:/([0-9]{1,3}))?$'
      );
      v_from := pgjobs._cron_number(v_parts[1], low, names);
      -- One number with a step goes on to the highest.
      v_to := case
        when v_parts[2] is not null then pgjobs._cron_number(v_parts[2], low, names)
        when v_parts[3] is not null then high
        else v_from
      end;
      v_step := coalesce(v_parts[3]::integer, 1);
      if (v_from >= low and v_to between v_from and high and v_step > 0) is not true then
        return null;
      end if;
      v_numbers := v_numbers || array(select generate_series(v_from, v_to, v_step));
    else
      v_numbers := v_numbers || v_mark;
    end if;
  end loop;
  return array(select distinct n.number from unnest(v_numbers) as n (number) order by n.number);
end
$$;

comment on function pgjobs._cron_field is
  'The numbers a field of cron stands for. Example: select pgjobs._cron_field(''9-17/2'', 0, 23)';

-- What an expression says. It `follows_clocks` when its minute or hour begins with a
-- star, and `either_day` will do when neither kind of day does.
create function pgjobs._read_cron(
  cron text,
  out minutes integer[],
  out hours integer[],
  out days integer[],
  out months integer[],
  out weekdays integer[],
  out follows_clocks boolean,
  out either_day boolean
)
language plpgsql immutable
as $$
declare
  v_words text := upper(btrim(regexp_replace(cron, '\s+', ' ', 'g')));
  v_fields text[] := string_to_array(case v_words
    when '@HOURLY' then '0 * * * *'
    when '@DAILY' then '0 0 * * *'
    when '@MIDNIGHT' then '0 0 * * *'
    when '@WEEKLY' then '0 0 * * 0'
    when '@MONTHLY' then '0 0 1 * *'
    when '@YEARLY' then '0 0 1 1 *'
    when '@ANNUALLY' then '0 0 1 1 *'
    else v_words
  end, ' ');
begin
  if cardinality(v_fields) = 5 then
    minutes := pgjobs._cron_field(v_fields[1], 0, 59);
    hours := pgjobs._cron_field(v_fields[2], 0, 23);
    days := pgjobs._cron_field(v_fields[3], 1, 31);
    months := pgjobs._cron_field(v_fields[4], 1, 12, '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}');
    weekdays := pgjobs._cron_field(v_fields[5], 0, 7, '{SUN,MON,TUE,WED,THU,FRI,SAT}');
  end if;
  if num_nulls(minutes, hours, days, months, weekdays) > 0 then
    perform pgjobs._refuse('validation-error', format('%L is no cron expression', left(cron, 200)),
      'It has five fields: minute, hour, day of the month, month, day of the week.',
      'For instance */15 9-17 * * MON-FRI, or @daily.');
  end if;
  follows_clocks := v_fields[1] like '*%' or v_fields[2] like '*%';
  either_day := not (v_fields[3] like '*%' or v_fields[5] like '*%');
end
$$;

comment on function pgjobs._read_cron is 'What a cron expression says. Example: select * from pgjobs._read_cron(''*/15 9-17 * * MON-FRI'')';

create function pgjobs._is_cron_day(day date, days integer[], weekdays integer[], either_day boolean)
returns boolean
language plpgsql immutable
as $$
declare
  v_last date := date_trunc('month', day) + interval '1 month - 1 day';
  v_day integer := extract(day from day);
  v_weekday integer := extract(dow from day);
  v_is_day boolean := v_day = any (days)
    or (32 = any (days) and day = v_last)
    or (33 = any (days) and day = v_last - greatest(extract(isodow from v_last)::integer - 5, 0));
  v_is_weekday boolean := v_weekday = any (weekdays)
    or (v_weekday = 0 and 7 = any (weekdays))
    or 100 + 10 * v_weekday + (v_day + 6) / 7 = any (weekdays)
    or (day + 7 > v_last and 109 + 10 * v_weekday = any (weekdays));
begin
  return case when either_day then v_is_day or v_is_weekday else v_is_day and v_is_weekday end;
end
$$;

comment on function pgjobs._is_cron_day is
  'Whether a day is meant by cron. Example: select pgjobs._is_cron_day(''2028-02-29'', array[32], array[1, 2], false)';

create function pgjobs._clock_shift(at timestamptz, timezone text)
returns interval
language plpgsql stable
as $$
begin
  return (at at time zone timezone) - (at at time zone 'UTC');
end
$$;

comment on function pgjobs._clock_shift is
  'How far the clocks of a zone are ahead. Example: select pgjobs._clock_shift(now(), ''Europe/Berlin'')';

-- When clocks first show a time. One they skip is shown when they have jumped.
create function pgjobs._first_shown(local timestamp, timezone text)
returns timestamptz
language plpgsql stable
as $$
declare
  v_at timestamptz := local at time zone timezone;
  v_shift interval := pgjobs._clock_shift(v_at, timezone);
  v_earlier timestamptz := v_at - (pgjobs._clock_shift(v_at - interval '3 hours', timezone) - v_shift);
begin
  if v_at at time zone timezone <> local then
    -- Postgres reads it by the clocks from before the jump, which is some minutes after it.
    while pgjobs._clock_shift(v_at - interval '1 minute', timezone) = v_shift loop
      v_at := v_at - interval '1 minute';
    end loop;
  elsif v_earlier < v_at and v_earlier at time zone timezone = local then
    -- Of two times Postgres takes the second.
    return v_earlier;
  end if;
  return v_at;
end
$$;

comment on function pgjobs._first_shown is
  'When clocks first show a time. Example: select pgjobs._first_shown(''2026-03-29 02:30'', ''Europe/Berlin'')';

-- The next time an expression names; null if none comes in fifty years.
--
-- Where clocks change, a set time that is skipped comes when they have jumped, and one
-- shown twice comes once. Expressions whose minute or hour begins with a star follow the
-- clocks: nothing of a skipped hour, and both of a repeated one.
create function pgjobs._next_cron_run(cron text, timezone text, after timestamptz)
returns timestamptz
language plpgsql stable
as $$
declare
  v_cron record := pgjobs._read_cron(cron);
  v_at timestamptz := date_trunc('minute', after) + interval '1 minute';
  v_local timestamp := v_at at time zone timezone;
  v_last timestamp := v_local + interval '50 years';
  v_since timestamp := after at time zone timezone;
  v_set timestamptz;
  v_jump timestamp;
begin
  while v_local < v_last loop
    if extract(month from v_local) <> all (v_cron.months) then
      v_jump := date_trunc('month', v_local) + interval '1 month';
    elsif not pgjobs._is_cron_day(v_local::date, v_cron.days, v_cron.weekdays, v_cron.either_day) then
      v_jump := date_trunc('day', v_local) + interval '1 day';
    elsif not v_cron.follows_clocks then
      -- In order, so that only the first are asked when they are shown.
      select s.at into v_set
      from (
        select date_trunc('day', v_local) + make_interval(hours => h.hour, mins => m.minute)
        from unnest(v_cron.hours) as h (hour)
        cross join unnest(v_cron.minutes) as m (minute)
        order by h.hour, m.minute
        offset 0
      ) as t (local)
      cross join lateral (select pgjobs._first_shown(t.local, timezone) where t.local > v_since offset 0) as s (at)
      where s.at > after
      limit 1;
      if v_set is not null then
        return v_set;
      end if;
      v_jump := date_trunc('day', v_local) + interval '1 day';
    elsif extract(hour from v_local) <> all (v_cron.hours) then
      v_jump := date_trunc('hour', v_local) + interval '1 hour';
    elsif extract(minute from v_local) <> all (v_cron.minutes) then
      v_jump := null;
    else
      return v_at;
    end if;
    v_at := greatest(v_at + interval '1 minute', pgjobs._first_shown(v_jump, timezone));
    v_local := v_at at time zone timezone;
  end loop;
  return null;
end
$$;

comment on function pgjobs._next_cron_run is
  'The next time a cron expression names. Example: select pgjobs._next_cron_run(''0 9 * * MON-FRI'', ''Europe/Berlin'', now())';

-- The next run after a moment: by cron, or a whole number of intervals after the last.
create function pgjobs._next_run(cron text, every interval, timezone text, due timestamptz, after timestamptz)
returns timestamptz
language plpgsql stable
as $$
begin
  return case
    when cron is not null then pgjobs._next_cron_run(cron, timezone, after)
    -- In seconds: a day of an interval has as many hours as the session's clocks give it.
    when due is null then after + make_interval(secs => extract(epoch from every)::double precision)
    else due + make_interval(secs => (
      (floor(extract(epoch from after - due) / extract(epoch from every)) + 1) * extract(epoch from every)
    )::double precision)
  end;
end
$$;

comment on function pgjobs._next_run is
  'The next run of a schedule. Example: select pgjobs._next_run(null, ''10 minutes'', ''UTC'', null, now())';

-- The next runs, the first of them given or to be found.
create function pgjobs._upcoming_runs(cron text, every interval, timezone text, first timestamptz, quantity integer)
returns timestamptz[]
language plpgsql stable
as $$
declare
  v_run timestamptz := coalesce(pgjobs._known_moment(first), pgjobs._next_run(cron, every, timezone, null, pgjobs._now()));
  v_runs timestamptz[] := '{}';
begin
  while v_run is not null and cardinality(v_runs) < quantity loop
    v_runs := v_runs || v_run;
    v_run := pgjobs._next_run(cron, every, timezone, v_run, v_run);
  end loop;
  return v_runs;
end
$$;

comment on function pgjobs._upcoming_runs is
  'The next runs of a schedule. Example: select pgjobs._upcoming_runs(''@daily'', null, ''UTC'', null, 5)';
