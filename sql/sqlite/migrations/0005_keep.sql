-- Jobs that stay when their last worker leaves: those a program declares, whose
-- tasks are to wait for it until it runs again.

alter table jobs add column keep integer not null default 0;

drop view job;
create view job as
select
  j.id,
  j.uuid,
  j.full_name,
  j.room,
  j.category,
  j.name,
  j.schema,
  j.max_attempts,
  j.backoff_base,
  j.backoff_cap,
  j.jitter_share,
  j.jitter_cap,
  j.max_age,
  j.events,
  j.retain_completed,
  j.retain_failed,
  j.created_at,
  j.paused_at,
  j.archived_at,
  j.deleted_at,
  j.keep,
  (
    select json_group_array(w.worker_id)
    from (select l.worker_id from worker_jobs as l where l.job_id = j.id order by l.worker_id) as w
  ) as workers
from jobs as j;
