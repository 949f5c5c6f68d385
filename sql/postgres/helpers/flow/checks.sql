-- Whether tasks that wait have something to wait for, and what hangs on tasks belongs to them.
create function pgjobs._check_waits()
returns table (rule text, violations bigint)
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select 'a suspended task waits for something', count(*)
  from pgjobs.scheduled as s
  where case s.waits_for
    when 'time' then s.run_at = pgjobs._never() or s.signal is not null or s.blocked_by is not null
    when 'signal' then s.signal is null or s.blocked_by is not null
    when 'calls' then s.run_at < pgjobs._never() or s.blocked_by is null
    when 'parents' then s.run_at < pgjobs._never() or s.blocked_by is null
    when 'held' then s.run_at < pgjobs._never() or s.blocked_by is null
    else num_nonnulls(s.waits_for, s.signal, s.blocked_by) > 0
  end
  union all
  select 'no task waits for a signal that was sent', count(*)
  from pgjobs.scheduled as s
  join pgjobs.signals as g on g.task_id = s.task_id and g.name = s.signal
  where s.waits_for = 'signal'
  union all
  -- Unless somebody has yet to look: a note says so.
  select 'no task is blocked that could run', count(*)
  from pgjobs._verdicts(array(
    select s.task_id from pgjobs.scheduled as s
    where s.waits_for in ('parents', 'calls')
      and not exists (select from pgjobs.settled as n where n.after_id = s.blocked_by)
      and not exists (select from pgjobs.rechecks as r where s.task_id = any (r.task_ids))
  )) as v
  where v.verdict in ('run', 'hold') or (v.verdict = 'cancel' and not exists (
    select from pgjobs.settled as n
    join pgjobs.dependencies as d on d.after_id = n.after_id
    where d.task_id = v.task_id
  ))
  union all
  select 'steps, signals, log lines and dependencies belong to a task', count(*)
  from (
    select s.task_id from pgjobs.steps as s
    union all
    select k.task_id from pgjobs.kept_progress as k
    union all
    select l.task_id from pgjobs.task_log as l
    union all
    select g.task_id from pgjobs.signals as g
    union all
    select d.task_id from pgjobs.dependencies as d
    union all
    select w.task_id from pgjobs.workflow_tasks as w
  ) as h
  where not exists (select from pgjobs.tasks as t where t.id = h.task_id)
  union all
  select 'a workflow has tasks', count(*)
  from pgjobs.workflows as f
  where not exists (select from pgjobs.workflow_tasks as w where w.workflow_id = f.id);
end
$$;

comment on function pgjobs._check_waits is
  'Counts tasks that wait for nothing. Example: select * from pgjobs._check_waits()';
