-- Keeps what is known of a job before it ends, queued or processing: its progress, and what it
-- has given so far, which is its result until it completes with another. With `merge` the
-- members of a document are added to those that are there. Both are kept over retries.
create function pgjobs.update_generic_job(
  task_id bigint, progress jsonb default null, result jsonb default null, merge boolean default false
)
returns setof pgjobs.generic_jobs
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_id constant bigint := update_generic_job.task_id;
begin
  perform pgjobs._check_documents(array[update_generic_job.progress], 'progress');
  perform pgjobs._check_documents(array[update_generic_job.result], 'result');
  perform pgjobs._lock_tasks(array[v_id]);
  if not exists (select from pgjobs.tasks as t where t.id = v_id) then
    perform pgjobs._refuse('task-not-found', format('Job %s does not exist', v_id));
  end if;
  if not pgjobs._is_unfinished(v_id) then
    perform pgjobs._refuse('invalid-task-transition', format('Job %s has already ended', v_id), null,
      'Only queued and processing jobs can be updated.');
  end if;
  insert into pgjobs.kept_progress (task_id, progress)
  select v_id, update_generic_job.progress where update_generic_job.progress is not null
  on conflict (task_id) do update set progress = excluded.progress;
  insert into pgjobs.kept_results as k (task_id, result)
  select v_id, update_generic_job.result where update_generic_job.result is not null
  on conflict (task_id) do update
  set
    result = case
      when update_generic_job.merge and jsonb_typeof(k.result) = 'object' and jsonb_typeof(update_generic_job.result) = 'object'
        then k.result || update_generic_job.result
      else update_generic_job.result
    end;
  update pgjobs.leases as l
  set progress = coalesce(update_generic_job.progress, l.progress), updated_at = v_now
  where l.task_id = v_id;
  return query select g.* from pgjobs.get_generic_job(v_id) as g;
end
$$;

comment on function pgjobs.update_generic_job is
  'Keeps what is known of a job before it ends. Example: select status, result from pgjobs.update_generic_job(42, result => ''{"pages": 3}'', merge => true)';
