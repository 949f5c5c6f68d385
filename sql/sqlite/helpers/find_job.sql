-- Finds the job at :v_address, by number, public id or address, as :v_job.
-- No address asks for none and finds none.
select json_group_array(:v_address) as v_addresses
where :v_address is not null;
-- include find_jobs
select json_extract(:v_jobs_found, '$[0]') as v_job;
