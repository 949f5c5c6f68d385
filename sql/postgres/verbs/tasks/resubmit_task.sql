-- Submits a copy of a task with another payload: same job, room, priority, attempts, owner,
-- project and tags. Secrets that are left as they are shown, hidden, keep their value. Whoever
-- asks again with the same `idempotency_key` gets the same copy. With `replace` the first one, which must not be
-- running or completed, is ignored or cancelled in the same transaction, so that only one of the two is left to do.
create function pgjobs.resubmit_task(
  task_id bigint,
  payload jsonb default null,
  replace boolean default false,
  actor text default null,
  reason text default null,
  idempotency_key text default null
)
returns setof pgjobs.task
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_task pgjobs.tasks;
  v_status text;
  v_id bigint;
  v_shows_secrets boolean := (select c.show_secrets from pgjobs.settings as c);
begin
  select t.* into v_task from pgjobs.tasks as t where t.id = any (pgjobs._tasks_in_reach(array[resubmit_task.task_id]));
  if v_task.id is null then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', resubmit_task.task_id));
  end if;
  select s.task_id into v_id
  from pgjobs.submit_tasks(
    job => (select j.full_name from pgjobs.jobs as j where j.id = v_task.job_id),
    payloads => array[coalesce(
      pgjobs._unhidden(resubmit_task.payload, pgjobs._shown_payload(v_task.payload, v_shows_secrets), v_task.payload),
      v_task.payload
    )],
    room => v_task.room, priority => v_task.priority,
    max_attempts => v_task.max_attempts, submitter => resubmit_task.actor, owner => v_task.owner,
    project => v_task.project, tags => v_task.tags, cross_room => true,
    idempotency_keys => case when resubmit_task.idempotency_key is not null then array[resubmit_task.idempotency_key] end
  ) as s;
  if resubmit_task.replace then
    v_status := (select t.status from pgjobs.task as t where t.id = v_task.id);
    -- Cancelled and ignored tasks run no more: they stay as they are.
    if v_status not in ('cancelled', 'ignored') then
      perform from pgjobs.ignore_task(
        v_task.id, resubmit_task.actor,
        left(concat_ws('; ', format('replaced by %s', pgjobs.task_uuid(v_id)), resubmit_task.reason), 200)
      );
    end if;
  end if;
  return query select t.* from pgjobs.task as t where t.id = v_id;
end
$$;

comment on function pgjobs.resubmit_task is
  'Submits a copy of a task with another payload. Example: select uuid from pgjobs.resubmit_task(42, ''{"to": "ada"}'', replace => true)';
