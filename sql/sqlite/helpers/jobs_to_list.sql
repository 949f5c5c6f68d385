-- What a list of the tasks of :room is about: :v_job, if :job names one; refuses
-- what cannot be listed.
select :room as v_room, :job as v_address;
-- include check_room
select refuse('validation-error', 'Unknown status ' || quote(:status))
where :status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored');
-- include find_job
select refuse('job-not-found', 'Job ' || :job || ' does not exist', 'It belongs to another room.')
from jobs as j
where j.id = :v_job
  and j.room not in (:room, '@global')
  and (j.room <> '@internal' or :room = '@global')
  and not exists (select 1 from tasks as t where t.room = :room and t.job_id = j.id);
