-- limit_job(
--   job text, max_running integer = null, actor text = null, reason text = null,
--   max_running_per_key integer = null, rate text = null, rate_per_key text = null, fair boolean = null,
--   ordered boolean = null, on_failure text = null, weights jsonb = null
-- )
--
-- Limits how many tasks of a job may be claimed or running at once, wherever; without
-- a number, any. What runs already is counted and continues.
select refuse('not-on-sqlite', 'Sharing by key is not on SQLite')
where coalesce(:max_running_per_key, :rate, :rate_per_key, :fair, :ordered, :on_failure, :weights) is not null;
select :job as v_address;
-- include find_job
select refuse(
  'validation-error', 'max_running must be between 1 and 1000000', 'Got ' || :max_running || '.',
  'To let none run, pause the job.'
)
where :max_running not between 1 and 1000000;
update jobs set max_running = :max_running where id = :v_job;
insert into events (at, kind, job_id, room, actor, message, fields)
select now(), 'job_limited', j.id, j.room, :actor, redact_line(:reason), json_object('max_running', j.max_running)
from jobs as j
where j.id = :v_job;
select v.* from job as v where v.id = :v_job;
