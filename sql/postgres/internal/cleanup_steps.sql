-- Refuses statuses that no clean-up task can have.
create function pgjobs.check_cleanup_statuses(statuses text[])
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if not statuses <@ array['queued', 'running', 'retrying', 'blocked', 'done', 'ignored', 'abandoned'] then
    perform pgjobs.refuse('validation-error', 'Unknown status of a clean-up task', format('Got %s.', statuses),
      'Statuses: queued, running, retrying, blocked, done, ignored, abandoned');
  end if;
end
$$;

comment on function pgjobs.check_cleanup_statuses is
  'Refuses unknown statuses. Example: select pgjobs.check_cleanup_statuses(array[''blocked''])';

-- Refuses a step that the clean-up task's present status does not allow.
create function pgjobs.refuse_cleanup_step(task_id bigint, step text, allowed text)
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_status text;
begin
  select c.status into v_status
  from pgjobs.incomplete_cleanup_tasks as c where c.task_id = refuse_cleanup_step.task_id;
  perform pgjobs.refuse('invalid-task-transition', format('Cannot %s a clean-up that is %s', step, v_status),
    format('It is %s.', v_status), format('Only those that are %s allow it.', allowed));
end
$$;

comment on function pgjobs.refuse_cleanup_step is
  'Raises why a step is not allowed. Example: select pgjobs.refuse_cleanup_step(42, ''ignore'', ''queued'')';

-- Clean-up tasks about one of these types of target, this node and this job. Plain SQL,
-- so that a caller's query takes it in.
create function pgjobs.wanted_cleanups(job_id integer, target_types text[], of_node text, of_job text)
returns setof bigint
language sql stable
as $$
select t.id
from pgjobs.tasks as t
where t.room = '@internal' and t.job_id = wanted_cleanups.job_id
  and (wanted_cleanups.target_types is null or t.payload -> 'target' ->> 'type' = any (wanted_cleanups.target_types))
  and (wanted_cleanups.of_node is null or t.payload ->> 'node_id' = wanted_cleanups.of_node)
  and (wanted_cleanups.of_job is null or wanted_cleanups.of_job in (t.payload ->> 'job_id', t.payload ->> 'job_name'))
$$;

comment on function pgjobs.wanted_cleanups is
  'Clean-up tasks that fit some filters. Example: select * from pgjobs.wanted_cleanups(pgjobs.cleanup_job(), null, ''hub'', null)';

-- Clean-up tasks that are not done, by where they are: few, however many were done and
-- however long the queue is. Plain SQL, so that a caller's query takes it in.
create function pgjobs.open_cleanups(job_id integer)
returns table (task_id bigint, status text, next_attempt_at timestamptz, since timestamptz)
language sql stable
as $$
select
  p.task_id,
  coalesce(p.status, case
    when p.attempt = 0 then 'queued'
    when (
      select e.error_kind from pgjobs.attempts as e where e.task_id = p.task_id order by e.id desc limit 1
    ) in ('auth', 'config') then 'blocked'
    else 'retrying'
  end),
  p.next_attempt_at,
  p.since
from (
  select r.task_id, r.job_id, r.attempt, null::text as status, r.due_at as next_attempt_at, null::timestamptz as since
  from pgjobs.ready as r
  union all
  select s.task_id, s.job_id, s.attempt, null, s.run_at, null from pgjobs.scheduled as s
  union all
  select l.task_id, l.job_id, l.attempt, 'running', null, l.claimed_at from pgjobs.leases as l where l.task_id > 0
  union all
  select i.task_id, i.job_id, i.attempt, 'ignored', null, i.ignored_at from pgjobs.ignored as i where i.task_id > 0
  union all
  select o.task_id, o.job_id, o.attempt, 'abandoned', null, o.ended_at from pgjobs.outcomes as o where o.status <> 'completed'
) as p
where p.job_id = open_cleanups.job_id
$$;

comment on function pgjobs.open_cleanups is
  'Where clean-up tasks are that are not done. Example: select status, count(*) from pgjobs.open_cleanups(pgjobs.cleanup_job()) group by status';
