-- Refuses :cron, :every and :timezone that are no schedule.
select refuse('validation-error', 'A schedule runs by cron or every so often: give one of both')
where (:cron is null) = (:every is null);
select refuse('validation-error', 'A cron expression has at most 200 characters')
where length(:cron) > 200;
select refuse(
  'validation-error', quote(:cron) || ' is no cron expression',
  'It has five fields: minute, hour, day of the month, month, day of the week.', 'For instance */15 9-17 * * MON-FRI, or @daily.'
)
where not is_cron(:cron);
select refuse(
  'validation-error', 'every must be between a second and a year, in days, hours, minutes and seconds',
  'Got ' || :every / 1e6 || ' s.', 'For months, use cron: 0 0 1 * *'
)
where :every not between 1000000 and 31622400000000;
select refuse(
  'validation-error', 'There is no time zone ' || quote(:timezone), null, 'Write a place, such as Europe/Berlin, or UTC.'
)
where not is_timezone(:timezone);
select refuse('validation-error', quote(:cron) || ' never comes', 'No day of the next fifty years fits.')
where next_run(:cron, :every, :timezone, null, now()) is null;
