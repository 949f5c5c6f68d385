-- When a schedule would run, without making one.
create function pgjobs.preview_schedule(
  cron text default null, every interval default null, timezone text default 'UTC', quantity integer default 5
)
returns table (run_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._check_schedule(
    'preview', preview_schedule.cron, preview_schedule.every, preview_schedule.timezone, 'once', is_preview => true
  );
  if preview_schedule.quantity is null or preview_schedule.quantity not between 1 and 100 then
    perform pgjobs._refuse('validation-error', 'quantity must be between 1 and 100', format('Got %s.', preview_schedule.quantity));
  end if;
  return query
  select u.run_at
  from unnest(pgjobs._upcoming_runs(
    preview_schedule.cron, preview_schedule.every, preview_schedule.timezone, null, preview_schedule.quantity
  )) as u (run_at);
end
$$;

comment on function pgjobs.preview_schedule is
  'When a schedule would run. Example: select run_at at time zone ''Europe/Berlin'' from pgjobs.preview_schedule(''0 9 * * MON-FRI'', timezone => ''Europe/Berlin'')';
