-- get_job(job text, room text = null)
--
-- One job, also when it is archived or retired; or, with a room, only one that
-- is not retired and visible from there.
select :job as v_address;
-- include find_job
select refuse('job-not-found', 'Job ' || :job || ' does not exist', 'It was retired.')
from jobs as j
where j.id = :v_job and :room is not null and j.deleted_at is not null;
select refuse(
  'job-not-found',
  'Job ''' || :job || ''' is not accessible from room ''' || substr(:room, 1, 200) || '''',
  'It belongs to another room.'
)
from jobs as j
where j.id = :v_job
  and :room is not null
  and not (j.room in (:room, '@global') or (j.room = '@internal' and :room <> '@global'));
select v.* from job as v where v.id = :v_job;
