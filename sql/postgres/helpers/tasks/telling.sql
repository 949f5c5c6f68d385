-- Events of jobs that ask for all of them. Verbs that submit, claim and put tasks back know
-- whether anybody asked, and call these; a trigger that looks at the rows of every statement
-- would cost a submit of one task more than writing it.

create function pgjobs._tell_submitted(task_ids bigint[])
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.events (at, kind, task_id, job_id, room, status)
  select t.created_at, 'submitted', t.id, t.job_id, t.room, 'pending'
  from unnest(_tell_submitted.task_ids) as i (id)
  join pgjobs.tasks as t on t.id = i.id
  join pgjobs.jobs as j on j.id = t.job_id and j.events = 'full';
end
$$;

comment on function pgjobs._tell_submitted is
  'Records submitted tasks of jobs that ask for full events. Example: see pgjobs.submit_tasks, which calls it';

-- Tasks that are in the queue again: due after a delay or put back, or given back.
create function pgjobs._tell_returned(task_ids bigint[], kind text)
returns void
language plpgsql volatile
as $$
begin
  if not exists (select from pgjobs.jobs as j where j.events = 'full') then
    return;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status)
  select pgjobs._now(), _tell_returned.kind, t.id, t.job_id, t.room, 'pending'
  from unnest(_tell_returned.task_ids) as i (id)
  join pgjobs.tasks as t on t.id = i.id
  join pgjobs.jobs as j on j.id = t.job_id and j.events = 'full';
end
$$;

comment on function pgjobs._tell_returned is
  'Records tasks that are in the queue again. Example: see pgjobs.release_tasks, which gives them back';

create function pgjobs._tell_claimed(task_ids bigint[])
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id)
  select
    l.claimed_at, case when l.started_at is null then 'claimed' else 'started' end, l.task_id, l.job_id, t.room,
    case when l.started_at is null then 'claimed' else 'running' end, l.worker_id
  from unnest(_tell_claimed.task_ids) as i (id)
  join pgjobs.leases as l on l.task_id = i.id
  join pgjobs.tasks as t on t.id = i.id;
end
$$;

comment on function pgjobs._tell_claimed is
  'Records new leases of a job that asks for full events. Example: see pgjobs.claim_tasks, which calls it';
