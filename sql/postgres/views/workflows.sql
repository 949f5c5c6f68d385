-- A workflow's status is what its tasks say: nothing is stored.
create view pgjobs.workflow as
select
  f.id,
  f.uuid,
  f.name,
  f.room,
  case
    when c.completed + c.failed + c.cancelled = c.tasks then
      case when c.failed > 0 then 'failed' when c.cancelled > 0 then 'cancelled' else 'completed' end
    when c.running > 0 then 'running'
    when c.held > 0 and c.held + c.completed + c.failed + c.cancelled + c.ignored = c.tasks then 'held'
    when c.completed + c.failed + c.cancelled > 0 then 'running'
    else 'pending'
  end as status,
  c.tasks,
  c.running,
  c.completed,
  c.failed,
  c.cancelled,
  c.held,
  f.created_at,
  case when c.completed + c.failed + c.cancelled = c.tasks then c.last_ended_at end as ended_at,
  f.submitter
from pgjobs.workflows as f
cross join lateral (
  select
    count(*) as tasks,
    count(l.task_id) as running,
    count(*) filter (where o.status = 'completed') as completed,
    count(*) filter (where o.status = 'failed') as failed,
    count(*) filter (where o.status = 'cancelled') as cancelled,
    count(*) filter (where s.waits_for = 'held') as held,
    count(i.task_id) as ignored,
    max(o.ended_at) as last_ended_at
  from pgjobs.workflow_tasks as w
  left join pgjobs.outcomes as o on o.task_id = w.task_id
  left join pgjobs.leases as l on l.task_id = w.task_id
  left join pgjobs.scheduled as s on s.task_id = w.task_id
  left join pgjobs.ignored as i on i.task_id = w.task_id
  where w.workflow_id = f.id
) as c;

comment on view pgjobs.workflow is
  'Every workflow with the status that its tasks give it. Example: select name, status, completed, tasks from pgjobs.workflow where id = 7';
comment on column pgjobs.workflow.id is 'Internal number.';
comment on column pgjobs.workflow.uuid is 'Public id.';
comment on column pgjobs.workflow.name is 'What people call it.';
comment on column pgjobs.workflow.room is 'Where it was submitted from.';
comment on column pgjobs.workflow.status is
  'pending, running, held (what is left waits for a parent that failed), or once all have ended failed, cancelled or completed.';
comment on column pgjobs.workflow.tasks is 'How many tasks it has.';
comment on column pgjobs.workflow.running is 'How many are claimed or running.';
comment on column pgjobs.workflow.completed is 'How many have completed.';
comment on column pgjobs.workflow.failed is 'How many have failed.';
comment on column pgjobs.workflow.cancelled is 'How many were cancelled.';
comment on column pgjobs.workflow.held is 'How many are held because a parent failed.';
comment on column pgjobs.workflow.created_at is 'When it was submitted.';
comment on column pgjobs.workflow.ended_at is 'When the last of its tasks ended.';
comment on column pgjobs.workflow.submitter is 'Who submitted it.';
