-- The next 500 tasks that become due by themselves: delayed, or backing off
-- after an error.
create function pgjobs.scheduled_tasks()
returns table (
  run_at timestamptz,
  due_in interval,
  task_id bigint,
  job text,
  room text,
  phase text,
  priority smallint,
  attempt smallint,
  max_attempts smallint,
  error_kind text,
  error text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
begin
  return query
  select
    s.run_at, pgjobs._known_moment(s.run_at) - v_now, s.task_id, j.full_name, t.room,
    case
      when s.waits_for is not null then pgjobs._wait_phase(s.waits_for)
      when s.error is null then 'scheduled'
      when s.error_kind in ('auth', 'config') then 'blocked'
      else 'retrying'
    end,
    s.priority, s.attempt, t.max_attempts, s.error_kind, left(split_part(s.error, E'\n', 1), 200)
  from (select n.* from pgjobs.scheduled as n where n.run_at < pgjobs._never() order by n.run_at limit 500) as s
  join pgjobs.tasks as t on t.id = s.task_id
  join pgjobs.jobs as j on j.id = s.job_id
  order by s.run_at, s.task_id;
end
$$;

comment on function pgjobs.scheduled_tasks is
  'The next tasks that become due. Example: select run_at, task_id, job, phase, error from pgjobs.scheduled_tasks()';
