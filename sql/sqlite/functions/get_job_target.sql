-- get_job_target(job text)
--
-- Where the runs of a job write; no row when nobody said.
select :job as v_address;
-- include find_job
select j.full_name as job_name, g.node_id as node, redact_document(g.target) as job_target
from jobs as j
join targets as g on g.job_id = j.id
where j.id = :v_job and g.target is not null;
