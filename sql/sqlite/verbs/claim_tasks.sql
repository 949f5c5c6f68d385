-- claim_tasks(
--   worker_id uuid = null, quantity integer = 1, lease interval = null, job_ids integer[] = null,
--   in_room text = null, in_category text = null, of_owner text = null, of_project text = null,
--   holder text = null, start boolean = false, remote boolean = false, actor text = null,
--   durable boolean = true
-- )
--
-- Hands up to `quantity` due tasks to a worker, each under a fresh lease.
--
-- Serves the jobs the worker is linked to, or those named by `job_ids`, or those
-- of `in_room` and `in_category`. Takes from the lane whose head is best by due
-- time and priority, in order within the lane; a batch may run on into the next
-- lane. Without a registered worker a claim names its `holder` and a `lease`.
-- Of a job with a limit no more are handed out than it has slots. Every claim is as
-- `durable` as the file.
-- include check_lease
select refuse('validation-error', 'quantity must be between 1 and 500', 'Got ' || :quantity || '.')
where :quantity not between 1 and 500;
select refuse(
  'validation-error', 'A claim without a registered worker needs a holder and a lease', null,
  'Pass a holder and a lease, or register a worker.'
)
where :worker_id is null and (:lease is null or coalesce(:holder, '') = '' or length(:holder) > 200);
select :actor as v_actor, 500 as v_batch;
-- include find_worker
-- A claim is a heartbeat.
update workers set last_heartbeat_at = now()
where id = :worker_id and last_heartbeat_at < now() - (select s.worker_timeout / 4 from settings as s);
-- include claimable_jobs
-- include promote_due

-- Slots of jobs that have a limit.
select json_group_object(cast(j.id as text), max(0, j.max_running - (
  select count(*) from tasks as t where t.status in ('claimed', 'running') and t.job_id = j.id
))) as v_slots
from jobs as j
where j.max_running is not null and j.id in (select i.value from json_each(:v_jobs) as i);

-- The lanes, best head first: due time plus a step of `aging` for each priority.
-- A waiting task's key is fixed and newcomers' keys grow, so an old task of low
-- priority gets its turn. Each lane is read no further than `quantity`, so that
-- a backlog is never sorted.
with lanes_in_order as materialized (
  select
    l.job_id,
    row_number() over (order by h.due_at + h.priority * s.aging, h.priority, h.id) as place,
    (
      select json_group_array(o.id)
      from (
        select t.id
        from tasks as t
        where t.job_id = l.job_id and t.priority = l.priority and t.is_ready
          and (:of_owner is null or t.owner = :of_owner)
          and (:of_project is null or t.project = :of_project)
        order by t.due_at, t.id
        limit :quantity
      ) as o
    ) as task_ids
  from json_each(:v_jobs) as j
  cross join lanes as l on l.job_id = j.value
  cross join settings as s
  cross join tasks as h on h.id = (
    select t.id
    from tasks as t
    where t.job_id = l.job_id and t.priority = l.priority and t.is_ready
    order by t.due_at, t.id
    limit 1
  )
), portions as materialized (
  select
    l.place, l.job_id, l.task_ids,
    sum(json_array_length(l.task_ids)) over (order by l.place) - json_array_length(l.task_ids) as tasks_before
  from lanes_in_order as l
)
select json_group_array(json_array(k.id, uuid4())) as v_taken
from (
  select o.id
  from (
    select
      i.value as id, p.place, i.key, json_extract(:v_slots, '$."' || p.job_id || '"') as slots,
      row_number() over (partition by p.job_id order by p.place, i.key) as slot
    from portions as p
    cross join json_each(p.task_ids) as i
    -- Of a limited job more may have been read than it has slots.
    where p.tasks_before < :quantity or :v_slots <> '{}'
  ) as o
  where o.slots is null or o.slot <= o.slots
  order by o.place, o.key
  limit :quantity
) as k;

update tasks
set
  status = iif(:start, 'running', 'claimed'),
  is_ready = false,
  due_at = null,
  attempt = attempt + 1,
  token = json_extract(k.value, '$[1]'),
  worker_id = :worker_id,
  holder = :holder,
  claimed_at = now(),
  until = :v_until,
  started_at = iif(:start, now(), null)
from json_each(:v_taken) as k
where tasks.id = json_extract(k.value, '$[0]');

select
  t.id as task_id,
  t.token,
  t.job_id,
  j.full_name as job,
  t.room, t.payload, t.priority, t.attempt, t.max_attempts, t.created_at, t.claimed_at, t.until, t.submitter,
  t.owner, t.project, t.tags,
  t.trace_context
from json_each(:v_taken) as k
cross join tasks as t on t.id = json_extract(k.value, '$[0]')
cross join jobs as j on j.id = t.job_id
order by k.key;
