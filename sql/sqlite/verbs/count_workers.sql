-- count_workers(room text = null)
--
-- How many workers list_workers would list.
select count(*) as total, 'eq' as relation
from workers as w
where :room is null or exists (
  select 1
  from worker_jobs as l
  join jobs as j on j.id = l.job_id
  where l.worker_id = w.id and j.deleted_at is null and j.room in (:room, '@global', '@internal')
);
