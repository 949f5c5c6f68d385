-- The jobs a claim may take from, as :v_jobs: those named, those of a room, or those the worker serves.
select json_group_array(distinct j.id) as v_jobs
from (
  select i.value as id from json_each(:job_ids) as i
  union all
  select r.id from jobs as r
  where :job_ids is null and r.room = :in_room and r.category = coalesce(:in_category, r.category)
  union all
  select w.job_id from worker_jobs as w
  where :job_ids is null and :in_room is null and w.worker_id = :worker_id
) as c
cross join jobs as j on j.id = c.id
where j.paused_at is null and j.archived_at is null and j.deleted_at is null
  and (j.room <> '@internal' or not :remote);
