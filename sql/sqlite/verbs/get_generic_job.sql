-- get_generic_job(task_id bigint = null, task_uuid uuid = null, owner_user_id text = null, project_id bigint = null)
--
-- One task in the words of the generic job manager, by number or public id. With an
-- owner or a project named, only if it is theirs: another's does not exist for them.
select coalesce(:task_id, task_id(:task_uuid, (select s.task_key from secrets as s))) as v_task;
select refuse('task-not-found', 'Job ' || coalesce(:task_id, :task_uuid, '') || ' does not exist')
where not exists (
  select 1 from tasks as t
  where t.id = :v_task
    and (:owner_user_id is null or t.owner = :owner_user_id)
    and (:project_id is null or t.project = cast(:project_id as text))
);
select json_array(:v_task) as v_tasks, false as v_is_claimed;
-- include show_generic_jobs
