-- Limits: how many tasks of a job may be claimed or running at once.

alter table jobs
add column max_running integer
constraint limits_are_possible check (max_running between 1 and 1000000);

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
  j.max_running,
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

create trigger freed_slots_wake after update of status on tasks
when old.status in ('claimed', 'running') and new.status not in ('claimed', 'running')
  and exists (select 1 from waiting)
  and exists (select 1 from jobs as j where j.id = new.job_id and j.max_running is not null)
begin
  insert into notifications (at, channel, payload)
  select now(), 'wake', w.id from waiting as w
  where exists (select 1 from json_each(w.job_ids) as j where j.value = new.job_id)
  order by w.id
  limit 1;
  delete from waiting where id = (
    select min(w.id) from waiting as w
    where exists (select 1 from json_each(w.job_ids) as j where j.value = new.job_id)
  );
end;

create trigger raised_limits_wake after update of max_running on jobs
when exists (select 1 from waiting) begin
  insert into notifications (at, channel, payload)
  select now(), 'wake', w.id from waiting as w
  where exists (select 1 from json_each(w.job_ids) as j where j.value = new.id);
  delete from waiting
  where exists (select 1 from json_each(waiting.job_ids) as j where j.value = new.id);
end;
