-- What runs leave behind: where a job's runs write, where each run did, and which
-- clean-up task looks after it. The clean-up tasks are ordinary tasks of an
-- @internal job.

alter table settings
add column cleanup_after integer not null default 604800000000
constraint cleanup_is_not_in_the_future check (cleanup_after >= 0);

create table targets (
  job_id integer primary key references jobs on delete cascade,
  node_id text not null,
  target text,
  constraint nodes_are_named check (node_id <> '' and length(node_id) <= 200)
) strict;

create table run_targets (
  task_id integer primary key,
  job_id integer not null,
  node_id text not null,
  target text not null,
  taken_at integer not null,
  cleanup_id integer
) strict;

-- Where a run writes is settled when it starts.
create trigger started_with_target after update of status on tasks
when new.status = 'running' begin
  insert into run_targets (task_id, job_id, node_id, target, taken_at)
  select new.id, new.job_id, g.node_id, g.target, new.started_at
  from targets as g
  where g.job_id = new.job_id and g.target is not null
  on conflict do nothing;
end;

-- Clean-up tasks in the words of those who look after them. Everything that may
-- hold a secret is redacted here.
create view incomplete_cleanup_tasks as
select
  json_extract(t.payload, '$.run_id') as run_id,
  json_extract(t.payload, '$.job_id') as job_id,
  json_extract(t.payload, '$.job_name') as job_name,
  json_extract(t.payload, '$.node_id') as node_id,
  json_extract(t.payload, '$.target.type') as target_type,
  redact_document(json_object(
    'node_id', json_extract(t.payload, '$.node_id'), 'target', json(json_extract(t.payload, '$.target'))
  )) as target_snapshot_json,
  case
    when t.status = 'completed' then 'done'
    when t.ended_at is not null then 'abandoned'
    when t.status in ('claimed', 'running') then 'running'
    when t.status = 'ignored' then 'ignored'
    when t.attempt = 0 then 'queued'
    when a.error_kind in ('auth', 'config') then 'blocked'
    else 'retrying'
  end as status,
  t.attempt as attempts,
  t.created_at,
  max(
    t.created_at, coalesce(a.ended_at, 0), coalesce(t.claimed_at, 0), coalesce(t.ended_at, 0), coalesce(i.at, 0)
  ) as updated_at,
  coalesce(t.claimed_at, a.claimed_at) as last_attempt_at,
  t.due_at as next_attempt_at,
  case
    when t.ended_at is not null then t.error_kind
    when t.attempt - (t.status in ('claimed', 'running')) > 0 then a.error_kind
  end as last_error_kind,
  redact_line(case
    when t.ended_at is not null then t.error
    when t.attempt - (t.status in ('claimed', 'running')) > 0 then a.error
  end) as last_error,
  iif(t.status = 'ignored', i.at, null) as ignored_at,
  iif(t.status = 'ignored', t.actor, null) as ignored_by_user_id,
  redact_line(iif(t.status = 'ignored', t.reason, null)) as ignore_reason,
  t.id as task_id
from jobs as j
join tasks as t on t.room = '@internal' and t.job_id = j.id
left join attempts as a on a.id = (select max(e.id) from attempts as e where e.task_id = t.id)
left join events as i on i.id = (select max(e.id) from events as e where e.task_id = t.id and e.kind = 'ignored')
where j.full_name = '@internal:maintenance:incomplete-cleanup';

-- Their events are kept as long as they are, so the numbers do not shift.
create view incomplete_cleanup_events as
select
  json_extract(t.payload, '$.run_id') as run_id,
  row_number() over (partition by t.id order by e.id) as seq,
  e.at as ts,
  case
    when e.kind = 'retrying'
      and coalesce(json_extract(e.fields, '$.error_kind'), '') not in ('auth', 'config') then 'warn'
    when e.kind in ('retrying', 'failed', 'cancelled') then 'error'
    else 'info'
  end as level,
  case
    when e.kind = 'started' then 'attempt'
    when e.kind = 'completed' then coalesce(json_extract(t.result, '$.outcome'), 'deleted')
    when e.kind = 'retrying' and json_extract(e.fields, '$.error_kind') in ('auth', 'config') then 'blocked'
    when e.kind = 'retrying' then 'failed'
    when e.kind in ('failed', 'cancelled') then 'abandoned'
    when e.kind = 'retried' then 'retry_now'
    else e.kind
  end as kind,
  coalesce(redact_line(e.message), case
    when e.kind = 'started' then 'An attempt began'
    when e.kind = 'ignored' then 'Put aside'
    when e.kind = 'unignored' then 'Taken up again'
    when e.kind = 'retried' then 'To be tried again now'
    when e.kind <> 'completed' then e.kind
    when json_extract(t.result, '$.outcome') = 'skip_complete' then 'The run is complete: nothing was deleted'
    when json_extract(t.result, '$.outcome') = 'skip_not_found' then 'There was nothing to delete'
    else 'What the run left behind was deleted'
  end) as message,
  redact_document(case
    when e.kind = 'completed' then json_remove(t.result, '$.outcome')
    when e.kind = 'retrying' then e.fields
    when e.actor is not null then json_object('by', e.actor)
  end) as fields_json,
  t.id as task_id
from jobs as j
join tasks as t on t.room = '@internal' and t.job_id = j.id
join events as e on e.task_id = t.id
where j.full_name = '@internal:maintenance:incomplete-cleanup'
  and e.kind in ('started', 'completed', 'retrying', 'failed', 'cancelled', 'ignored', 'unignored', 'retried');
