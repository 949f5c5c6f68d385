-- Runs the schedules that are due, a bounded batch, and tells how long it is until the
-- next one is. Safe from many processes at once: each passes by what others have in hand.
create function pgjobs.fire_schedules(batch integer default 100)
returns table (fired integer, skipped integer, due_in interval)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_now timestamptz := pgjobs._now();
  v_schedule pgjobs.schedules;
begin
  if fire_schedules.batch is null or fire_schedules.batch not between 1 and 10000 then
    perform pgjobs._refuse('validation-error', 'batch must be between 1 and 10000', format('Got %s.', fire_schedules.batch));
  end if;
  fired := 0;
  skipped := 0;
  for v_schedule in
    select s.*
    from pgjobs.schedules as s
    where s.next_run_at <= v_now
    order by s.next_run_at, s.id
    limit fire_schedules.batch
    for no key update skip locked
  loop
    -- Written by somebody else: there is no telling how many runs were missed since.
    if not pgjobs._is_known_year(v_schedule.next_run_at) then
      v_schedule.next_run_at := v_now;
    end if;
    if pgjobs._run_due_schedule(v_schedule, v_now) then
      fired := fired + 1;
    else
      skipped := skipped + 1;
    end if;
  end loop;
  -- What is due and was passed by is in somebody's hands: it is not asked for again at once.
  select case
    when s.next_run_at > v_now then pgjobs._known_moment(s.next_run_at) - v_now
    when fired + skipped = 0 then interval '1 second'
    else interval '0'
  end into due_in
  from pgjobs.schedules as s
  where s.next_run_at is not null
  order by s.next_run_at
  limit 1;
  return next;
end
$$;

comment on function pgjobs.fire_schedules is 'Runs the schedules that are due. Example: select * from pgjobs.fire_schedules()';
