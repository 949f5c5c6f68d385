-- show_workers(page_size integer = 50, page_offset integer = 0, few integer = 5)
--
-- Registered workers, the silent ones first, with the jobs they serve and the
-- tasks they hold: of each the first few, and how many there are.
select :page_offset as v_page_offset;
-- include check_page
select
  w.id,
  w.name,
  w.owner,
  w.registered_at,
  w.last_heartbeat_at,
  w.last_heartbeat_at > now() - (select s.worker_timeout from settings as s) as is_alive,
  (select count(*) from worker_jobs as s where s.worker_id = w.id) as job_count,
  (
    select json_group_array(f.full_name)
    from (
      select j.full_name
      from worker_jobs as s
      join jobs as j on j.id = s.job_id
      where s.worker_id = w.id
      order by j.full_name
      limit :few
    ) as f
  ) as serves,
  (
    select count(*) from tasks as t where t.status in ('claimed', 'running') and t.worker_id = w.id
  ) as task_count,
  (
    select json_group_array(json_object(
      'id', f.uuid, 'job', f.job, 'claimed_at', iso_time(f.claimed_at), 'started_at', iso_time(f.started_at),
      'attempt', f.attempt
    ))
    from (
      select v.*
      from task as v
      where v.status in ('claimed', 'running') and v.worker_id = w.id
      order by v.claimed_at, v.id
      limit :few
    ) as f
  ) as holds
from workers as w
order by is_alive, w.name, w.id
limit :page_size offset :page_offset;
