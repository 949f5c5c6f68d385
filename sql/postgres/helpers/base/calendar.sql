-- Whether a time has a year that calendars of programs know, 1 to 9999.
create function pgjobs._is_known_year(moment timestamptz)
returns boolean
language sql immutable
return moment >= '0001-01-01 00:00:00+00' and moment < '10000-01-01 00:00:00+00';

comment on function pgjobs._is_known_year is
  'Whether a time is in the years 1 to 9999. Example: select pgjobs._is_known_year(pgjobs._now())';

-- The same moment, or the nearest of these years: what others have stored must not stop anybody's arithmetic.
create function pgjobs._known_moment(moment timestamptz)
returns timestamptz
language sql immutable
return case
  when moment < '0001-01-01 00:00:00+00' then '0001-01-01 00:00:00+00'
  when moment >= '10000-01-01 00:00:00+00' then '9999-12-31 00:00:00+00'
  else moment
end;

comment on function pgjobs._known_moment is
  'A time, or the nearest in the years 1 to 9999. Example: select pgjobs._known_moment(''infinity'')';
