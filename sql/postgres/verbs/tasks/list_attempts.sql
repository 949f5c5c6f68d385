-- Every ended attempt of a task, oldest first; the one that settled it last. They are
-- numbered through all of its lives: an operator's retry does not begin again at 1.
create function pgjobs.list_attempts(task_id bigint)
returns table (
  attempt smallint,
  status text,
  worker_id uuid,
  holder text,
  claimed_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  error text,
  error_kind text,
  reason text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
begin
  if not exists (
    select from pgjobs.tasks as t where t.id = list_attempts.task_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', list_attempts.task_id));
  end if;
  return query
  select
    (count(a.claimed_at) over (order by a.place))::smallint, a.status, a.worker_id, a.holder, a.claimed_at, a.started_at,
    a.ended_at, a.error, a.error_kind, a.reason
  from (
    select h.id as place, h.status, h.worker_id, h.holder, h.claimed_at, h.started_at, h.ended_at, h.error, h.error_kind, h.reason
    from pgjobs.attempts as h
    where h.task_id = list_attempts.task_id
    union all
    select
      9223372036854775807, o.status, o.worker_id, o.holder, o.claimed_at, o.started_at, o.ended_at, o.error, o.error_kind, o.reason
    from pgjobs.outcomes as o
    where o.task_id = list_attempts.task_id
  ) as a
  order by a.place;
end
$$;

comment on function pgjobs.list_attempts is
  'Every ended attempt of a task. Example: select attempt, status, error from pgjobs.list_attempts(42)';
