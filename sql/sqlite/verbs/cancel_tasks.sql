-- cancel_tasks(
--   task_ids bigint[] = null, task_uuids uuid[] = null, reason text = null, force boolean = false, actor text = null,
--   dry_run boolean = false
-- )
--
-- Cancels tasks. Pending ones end at once; the workers of claimed and running ones are
-- asked to stop and learn of it at their next renew or progress report. With `force`
-- they end now, and their holders' tokens are worth nothing. Named and answered as in
-- retry_tasks.
-- include named_tasks
select
  json_group_array(t.id) as v_allowing,
  json_group_array(t.id) filter (where not :dry_run and (t.status = 'pending' or :force)) as v_ending,
  json_group_array(t.id) filter (where not :dry_run and t.status <> 'pending' and not :force) as v_asked,
  substr(redact(:reason), 1, 500) as v_reason
from tasks as t
where t.id in (select n.value from json_each(:v_named) as n)
  and t.status in ('pending', 'claimed', 'running');
-- include cancel_now
update tasks
set
  cancel_requested_at = coalesce(cancel_requested_at, now()),
  reason = coalesce(:v_reason, reason),
  updated_at = now()
where id in (select c.value from json_each(:v_asked) as c);
insert into events (at, kind, task_id, job_id, room, actor, message)
select now(), 'cancel_requested', t.id, t.job_id, t.room, :actor, :v_reason
from tasks as t
where t.id in (select c.value from json_each(:v_asked) as c)
order by t.id;
-- include answer_step
