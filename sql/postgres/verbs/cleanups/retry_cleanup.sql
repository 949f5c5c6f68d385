-- Tries to clean up after a run now, with no attempts used; refused while that
-- runs and when it is done.
create function pgjobs.retry_cleanup(run_id uuid, actor text default null, reason text default null)
returns setof pgjobs.incomplete_cleanup_tasks
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_now timestamptz := pgjobs._now();
  v_task bigint := pgjobs._find_cleanup(retry_cleanup.run_id);
begin
  perform from pgjobs._take_outcomes(array[v_task], array['failed', 'cancelled']);
  if not found then
    delete from pgjobs.ignored as i where i.task_id = v_task;
  end if;
  if not found then
    perform from pgjobs._take_pending(array[v_task]);
  end if;
  if not found then
    perform pgjobs._refuse_cleanup_step(v_task, 'retry', 'queued, retrying, blocked, ignored and abandoned');
  end if;
  perform pgjobs._enter_lanes(array[v_task], v_now);
  perform pgjobs._record_actions(array[v_task], 'retried', 'pending', retry_cleanup.actor, retry_cleanup.reason, v_now);
  return query select c.* from pgjobs.incomplete_cleanup_tasks as c where c.task_id = v_task;
end
$$;

comment on function pgjobs.retry_cleanup is
  'Retries a cleanup now. Example: select status from pgjobs.retry_cleanup(''<run id>'', actor => current_user)';
