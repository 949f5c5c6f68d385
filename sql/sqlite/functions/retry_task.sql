-- retry_task(task_id bigint, actor text = null, reason text = null)
--
-- Starts a task over: due now, no attempts used, its history kept. For tasks
-- that failed, were cancelled or ignored, or wait for a later time.
select
  'retry' as v_step,
  'failed, cancelled, ignored and scheduled' as v_allowed,
  (
    select t.status in ('failed', 'cancelled', 'ignored') or (t.status = 'pending' and not t.is_ready)
    from tasks as t
    where t.id = :task_id
  ) as v_is_allowed,
  'retried' as v_kind,
  'pending' as v_status;
-- include refuse_step
-- include keep_outcome
-- include enter_lane
-- include record_action
select v.* from task as v where v.id = :task_id;
