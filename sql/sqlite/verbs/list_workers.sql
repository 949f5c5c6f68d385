-- list_workers(room text = null, page_size integer = 50, page_offset integer = 0)
--
-- Registered workers, newest first: all, or those serving a job visible from a room.
select :page_offset as v_page_offset;
-- include check_page
select
  w.id, w.name, w.owner, w.registered_at, w.last_heartbeat_at,
  (select count(*) from worker_jobs as l where l.worker_id = w.id) as job_count,
  w.last_heartbeat_at > now() - (select s.worker_timeout from settings as s) as is_alive
from workers as w
where :room is null or exists (
  select 1
  from worker_jobs as l
  join jobs as j on j.id = l.job_id
  where l.worker_id = w.id and j.deleted_at is null and j.room in (:room, '@global', '@internal')
)
order by w.registered_at desc, w.id
limit :page_size offset :page_offset;
