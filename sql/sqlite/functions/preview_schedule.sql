-- preview_schedule(cron text = null, every interval = null, timezone text = 'UTC', quantity integer = 5)
--
-- When a schedule would run, without making one.
-- include check_times
select refuse('validation-error', 'quantity must be between 1 and 100', 'Got ' || :quantity || '.')
where :quantity not between 1 and 100;
with recursive runs as (
  select next_run(:cron, :every, :timezone, null, now()) as run_at, 1 as place
  union all
  select next_run(:cron, :every, :timezone, null, r.run_at), r.place + 1
  from runs as r
  where r.place < :quantity and r.run_at is not null
)
select r.run_at from runs as r where r.run_at is not null order by r.place;
