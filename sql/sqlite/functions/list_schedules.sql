-- list_schedules(room text = null, job text = null, page_size integer = 50, page_offset integer = 0)
--
-- Schedules of a room, of a job, or all: those due next first, the paused ones last.
select :page_offset as v_page_offset, :room as v_room, :job as v_address;
-- include check_page
-- include check_room
-- include find_job
select v.*
from schedule as v
where (:room is null or v.room = :room)
  and (:v_job is null or v.job_id = :v_job)
order by v.next_run_at is null, v.next_run_at, v.full_name, v.id
limit :page_size offset :page_offset;
