-- count_schedules(room text = null, job text = null)
--
-- How many schedules list_schedules would list.
select :room as v_room, :job as v_address;
-- include check_room
-- include find_job
select count(*) as total, 'eq' as relation
from schedules as s
where (:room is null or s.room = :room)
  and (:v_job is null or s.job_id = :v_job);
