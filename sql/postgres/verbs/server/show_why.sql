-- Why a task waits, each check with the action that would change it, or the page where more is
-- to be seen: its name and arguments. None where the check is fine, or the task is completed.
create function pgjobs.show_why(task_uuid uuid)
returns table (checked text, is_ok boolean, answer text, advice text, action text, arguments jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint := pgjobs.task_id(show_why.task_uuid);
  v_job pgjobs.jobs;
  v_worker uuid := (select l.worker_id from pgjobs.leases as l where l.task_id = v_id);
begin
  select j.* into v_job
  from pgjobs.tasks as t
  join pgjobs.jobs as j on j.id = t.job_id
  where t.id = v_id and (v_rooms is null or t.room = any (v_rooms));
  if v_job.id is null then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', show_why.task_uuid));
  end if;
  return query
  select w.checked, w.is_ok, w.answer, w.advice, coalesce(a.action, m.action), coalesce(a.arguments, m.arguments)
  from pgjobs.why(v_id) as w
  left join lateral pgjobs._fitting_action(w.advice) as a on not w.is_ok
  left join (values
    ('workers', 'open_job', jsonb_build_object('job', v_job.full_name, 'job_id', v_job.uuid)),
    ('lease', case when v_worker is null then 'open_job' else 'open_worker' end,
      jsonb_strip_nulls(jsonb_build_object('job', v_job.full_name, 'job_id', v_job.uuid, 'worker_id', v_worker)))
  ) as m (checked, action, arguments) on m.checked = w.checked and not w.is_ok
  order by w.step;
end
$$;

comment on function pgjobs.show_why is
  'The checks of pgjobs.why, each with the action that fits. Example: select answer, action from pgjobs.show_why(pgjobs.task_uuid(42)) where not is_ok';
