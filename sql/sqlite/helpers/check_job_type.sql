-- Refuses :domain, :queue and :job_type that a job type cannot have, in the words of the generic job manager.
select refuse(
  'invalid-room-id', 'domain must have 1 to 200 characters, neither @ nor a colon',
  'Got ' || quote(substr(:domain, 1, 200)) || '.'
)
where :domain not in ('@global', '@internal')
  and (:domain = '' or instr(:domain, '@') > 0 or instr(:domain, ':') > 0 or length(:domain) > 200);
select refuse(
  'invalid-category', 'queue must have 1 to 200 characters and no colon', 'Got ' || quote(substr(:queue, 1, 200)) || '.'
)
where :queue = '' or instr(:queue, ':') > 0 or length(:queue) > 200;
select refuse(
  'validation-error', 'job_type must have 1 to 200 characters', 'Got ' || quote(substr(:job_type, 1, 200)) || '.'
)
where :job_type = '' or length(:job_type) > 200;
