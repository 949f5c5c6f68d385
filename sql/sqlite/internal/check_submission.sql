-- Every reason to refuse tasks of :v_job in :v_room with :v_payloads, :priority and :max_attempts,
-- before anything is written. Opens the lane for their priority.
-- include check_room
select refuse('job-not-found', 'Job ' || j.full_name || ' does not exist', 'It was retired.')
from jobs as j
where j.id = :v_job and j.deleted_at is not null;
select refuse(
  'job-not-found',
  'Job ''' || j.full_name || ''' is not accessible from room ''' || :v_room || '''',
  'It belongs to another room.'
)
from jobs as j
where j.id = :v_job and j.room not in ('@global', '@internal', :v_room) and not :v_cross_room;
select refuse('job-unavailable', 'Job ' || j.full_name || ' is archived', 'Since ' || iso_time(j.archived_at) || '.', 'Unarchive it.')
from jobs as j
where j.id = :v_job and j.archived_at is not null;
select refuse('validation-error', 'payloads must be an array of at most 10000 JSON documents, none null')
where json_array_length(:v_payloads) > 10000 or exists (select 1 from json_each(:v_payloads) as p where p.value is null);
select refuse('validation-error', 'priority must be between 1 and 10', 'Got ' || :priority || '.')
where :priority not between 1 and 10;
select refuse('validation-error', 'max_attempts must be between 1 and 10000', 'Got ' || :max_attempts || '.')
where :max_attempts not between 1 and 10000;
select :v_payloads as v_documents, 'payload' as v_what;
-- include check_documents
insert into lanes (job_id, priority) values (:v_job, :priority) on conflict do nothing;
