-- Runs the schedules that are due, a bounded batch, and tells how long it is until the
-- next one is. Safe from many processes at once: each passes by what others have in hand.
create function pgjobs.fire_schedules(batch integer default 100)
returns table (fired integer, skipped integer, due_in interval)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_now timestamptz := pgjobs.now();
  v_schedule pgjobs.schedules;
begin
  if fire_schedules.batch is null or fire_schedules.batch not between 1 and 10000 then
    perform pgjobs.refuse('validation-error', 'batch must be between 1 and 10000', format('Got %s.', fire_schedules.batch));
  end if;
  fired := 0;
  skipped := 0;
  for v_schedule in
    select s.*
    from pgjobs.schedules as s
    where s.next_run_at <= v_now
    order by s.next_run_at, s.id
    limit fire_schedules.batch
    for update skip locked
  loop
    if pgjobs.fire(v_schedule, v_now) then
      fired := fired + 1;
    else
      skipped := skipped + 1;
    end if;
  end loop;
  select case when min(s.next_run_at) is not null then greatest(min(s.next_run_at) - v_now, interval '0') end into due_in
  from pgjobs.schedules as s;
  return next;
end
$$;

comment on function pgjobs.fire_schedules is 'Runs the schedules that are due. Example: select * from pgjobs.fire_schedules()';
