-- Has a job that is queued wait for another, of the same domain and owner; once that has failed
-- or was cancelled, so is this one, with the reason. Saying it again changes nothing.
create function pgjobs.add_dependency(task_id bigint, after_id bigint)
returns setof pgjobs.generic_jobs
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_child pgjobs.tasks;
  v_parent pgjobs.tasks;
  v_taken record;
begin
  -- One at a time, or two that add an edge each could close a circle.
  perform pg_advisory_xact_lock(hashtextextended('pgjobs.dependencies', 7));
  select t.* into v_child from pgjobs.tasks as t where t.id = add_dependency.task_id;
  select t.* into v_parent from pgjobs.tasks as t where t.id = add_dependency.after_id;
  if v_child.id is null or v_parent.id is null then
    perform pgjobs._refuse('task-not-found',
      format('Job %s does not exist', case when v_child.id is null then add_dependency.task_id else add_dependency.after_id end));
  end if;
  if v_child.id = v_parent.id then
    perform pgjobs._refuse('validation-error', 'A job cannot depend on itself');
  end if;
  if v_child.room <> v_parent.room or v_child.owner is distinct from v_parent.owner then
    perform pgjobs._refuse('validation-error', 'Jobs depend on jobs of the same domain and owner only');
  end if;
  if exists (
    with recursive before as (
      select v_parent.id
      union
      select d.after_id from before as b join pgjobs.dependencies as d on d.task_id = b.id
    )
    select from before as b where b.id = v_child.id
  ) then
    perform pgjobs._refuse('validation-error', format('Job %s already depends on job %s: they would wait for each other', v_parent.id, v_child.id));
  end if;
  if not exists (select from pgjobs.dependencies as d where d.task_id = v_child.id and d.after_id = v_parent.id) then
    select p.* into v_taken from pgjobs._take_pending(array[v_child.id]) as p;
    if v_taken.task_id is null then
      perform pgjobs._refuse('invalid-task-transition', format('Job %s is not queued', v_child.id), null,
        'Only queued jobs can be made to wait.');
    end if;
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority, attempt, updated_at)
    values (v_child.id, pgjobs._never(), v_taken.job_id, v_taken.priority, v_taken.attempt, v_now);
    perform pgjobs._enter_keys(array[v_child.id]);
    perform pgjobs._block(array[v_child.id], array[v_parent.id], 'cancel', v_now);
  end if;
  return query select g.* from pgjobs.get_generic_job(v_child.id) as g;
end
$$;

comment on function pgjobs.add_dependency is
  'Has a queued job wait for another. Example: select status from pgjobs.add_dependency(42, 41)';
