-- The clean-up task of :run_id, as :task_id; refused when the run has none.
-- include cleanup_job
select task_id(:run_id, (select s.task_key from secrets as s)) as v_run;
select t.id as v_task
from tasks as t
where t.job_id = :v_cleanup_job and t.idempotency_key = cast(:v_run as text);
select refuse('task-not-found', 'Run ' || :run_id || ' has no clean-up task')
where :v_task is null;
