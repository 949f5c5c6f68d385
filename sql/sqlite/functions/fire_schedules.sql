-- fire_schedules(batch integer = 100)
--
-- Runs the schedules that are due, a bounded batch, and tells how long it is until the
-- next one is.
select refuse('validation-error', 'batch must be between 1 and 10000', 'Got ' || :batch || '.')
where :batch not between 1 and 10000;
select :batch as v_fire;
-- include fire_schedules
select
  :v_fired as fired, :v_skipped as skipped,
  (select max(0, min(s.next_run_at) - now()) from schedules as s) as due_in;
