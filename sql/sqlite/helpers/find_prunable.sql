-- Finds up to :v_batch ended tasks that retention no longer keeps, oldest
-- first, as :v_pruned; :v_older_than, :v_of_status, :v_job, :v_room and
-- :v_category narrow it.
select now() - coalesce(:v_older_than, min(r.retention)) as v_ended_before
from (
  select nullif(coalesce(j.retain_completed, s.retain_completed), 0) as retention
  from jobs as j
  cross join settings as s
  union all
  select nullif(coalesce(j.retain_failed, s.retain_failed), 0)
  from jobs as j
  cross join settings as s
) as r;
select json_group_array(json_array(o.id, o.status, o.ended_at)) as v_pruned, count(*) as v_pruned_tasks
from (
  select t.id, t.status, t.ended_at
  from tasks as t
  cross join jobs as j on j.id = t.job_id
  cross join settings as s
  where t.ended_at < :v_ended_before
    and t.ended_at < now() - coalesce(:v_older_than, nullif(
      case t.status
        when 'completed' then coalesce(j.retain_completed, s.retain_completed)
        else coalesce(j.retain_failed, s.retain_failed)
      end, 0))
    and t.status = coalesce(:v_of_status, t.status)
    and t.job_id = coalesce(:v_job, t.job_id)
    and j.room = coalesce(:v_room, j.room)
    and j.category = coalesce(:v_category, j.category)
  order by +t.id
  limit :v_batch
) as o;
