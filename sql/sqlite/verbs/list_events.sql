-- list_events(
--   after text = null, of_task bigint = null, of_job text = null, of_room text = null,
--   page_size integer = 500
-- )
--
-- Events after a cursor, oldest first, for readers that must not miss one: with
-- one writer, numbers are in order of commit. Pass the last row's `cursor` to go
-- on; null starts at the oldest kept event. SQLite does not number transactions:
-- a verb, which has one moment for all it does, stands for one.
select 0 as v_page_offset, :of_job as v_address;
-- include check_page
select refuse('validation-error', 'Malformed cursor ' || quote(substr(:after, 1, 50)))
where not matches(:after, '[0-9]{1,19}-[0-9]{1,18}');
-- include find_job
select
  '0-' || e.id as cursor,
  cast(e.at as text) as txid,
  e.at, e.kind, e.task_id,
  case when e.task_id is not null then task_uuid(e.task_id, (select s.task_key from secrets as s)) end as task_uuid,
  j.full_name as job,
  e.room, e.status, e.worker_id, e.actor, e.message,
  e.fields
from events as e
left join jobs as j on j.id = e.job_id
where e.id > coalesce(cast(substr(:after, instr(:after, '-') + 1) as integer), 0)
  and (:of_task is null or e.task_id = :of_task)
  and (:v_job is null or e.job_id = :v_job)
  and (:of_room is null or e.room = :of_room)
order by e.id
limit :page_size;
