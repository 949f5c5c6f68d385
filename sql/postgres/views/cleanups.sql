-- Cleanup tasks in the words of those who look after them. Everything that may
-- hold a secret is redacted here.
create view pgjobs.incomplete_cleanup_tasks as
select
  (t.payload ->> 'run_id')::uuid as run_id,
  (t.payload ->> 'job_id')::uuid as job_id,
  t.payload ->> 'job_name' as job_name,
  t.payload ->> 'node_id' as node_id,
  t.payload -> 'target' ->> 'type' as target_type,
  pgjobs._redact_document(
    jsonb_build_object('node_id', t.payload -> 'node_id', 'target', t.payload -> 'target')
  ) as target_snapshot_json,
  case
    when o.status = 'completed' then 'done'
    when o.task_id is not null then 'abandoned'
    when l.task_id is not null then 'running'
    when i.task_id is not null then 'ignored'
    when coalesce(s.attempt, r.attempt, b.attempt, 0) = 0 then 'queued'
    when a.error_kind in ('auth', 'config') then 'blocked'
    else 'retrying'
  end as status,
  coalesce(o.attempt, l.attempt, i.attempt, s.attempt, r.attempt, b.attempt, 0)::integer as attempts,
  t.created_at,
  greatest(t.created_at, a.ended_at, l.claimed_at, o.ended_at, i.ignored_at) as updated_at,
  coalesce(l.claimed_at, o.claimed_at, a.claimed_at) as last_attempt_at,
  coalesce(s.run_at, r.due_at, b.due_at) as next_attempt_at,
  case
    when o.task_id is not null then o.error_kind
    when coalesce(l.attempt - 1, i.attempt, s.attempt, r.attempt, b.attempt) > 0 then a.error_kind
  end as last_error_kind,
  pgjobs._redact_line(case
    when o.task_id is not null then o.error
    when coalesce(l.attempt - 1, i.attempt, s.attempt, r.attempt, b.attempt) > 0 then a.error
  end) as last_error,
  i.ignored_at,
  i.actor as ignored_by_user_id,
  pgjobs._redact_line(i.reason) as ignore_reason,
  t.id as task_id
from pgjobs.jobs as j
join pgjobs.tasks as t on t.room = '@internal' and t.job_id = j.id
left join pgjobs.outcomes as o on o.task_id = t.id
left join pgjobs.leases as l on l.task_id = t.id
left join pgjobs.ignored as i on i.task_id = t.id
left join pgjobs.scheduled as s on s.task_id = t.id
left join pgjobs.ready as r
  on r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
left join pgjobs.ready as b on b.task_id = t.id and b.is_again
left join lateral (
  select e.error, e.error_kind, e.claimed_at, e.ended_at
  from pgjobs.attempts as e
  where e.task_id = t.id
  order by e.id desc
  limit 1
) as a on true
where j.full_name = '@internal:maintenance:incomplete-cleanup';

comment on view pgjobs.incomplete_cleanup_tasks is
  'Incomplete runs whose files must be removed, and the status of their cleanup. Example: select run_id, status, last_error from pgjobs.incomplete_cleanup_tasks where status = ''blocked''';
comment on column pgjobs.incomplete_cleanup_tasks.run_id is 'The run: public id of the task that did not complete.';
comment on column pgjobs.incomplete_cleanup_tasks.job_id is 'Public id of its job.';
comment on column pgjobs.incomplete_cleanup_tasks.job_name is 'Address of its job.';
comment on column pgjobs.incomplete_cleanup_tasks.node_id is 'The machine whose place it wrote to.';
comment on column pgjobs.incomplete_cleanup_tasks.target_type is 'local_dir, webdav or a type of your own.';
comment on column pgjobs.incomplete_cleanup_tasks.target_snapshot_json is 'Where it wrote, redacted.';
comment on column pgjobs.incomplete_cleanup_tasks.status is
  'queued (never tried), running, retrying, blocked (credentials or configuration), done, ignored or abandoned.';
comment on column pgjobs.incomplete_cleanup_tasks.attempts is 'Attempts so far, the present one included.';
comment on column pgjobs.incomplete_cleanup_tasks.created_at is 'When it was found.';
comment on column pgjobs.incomplete_cleanup_tasks.updated_at is 'When it last changed.';
comment on column pgjobs.incomplete_cleanup_tasks.last_attempt_at is 'When the last attempt began.';
comment on column pgjobs.incomplete_cleanup_tasks.next_attempt_at is 'When the next attempt is due.';
comment on column pgjobs.incomplete_cleanup_tasks.last_error_kind is 'network, http, io, auth, config, unknown or lease_expired.';
comment on column pgjobs.incomplete_cleanup_tasks.last_error is 'What the last attempt failed with, one line, redacted.';
comment on column pgjobs.incomplete_cleanup_tasks.ignored_at is 'Since when it is ignored.';
comment on column pgjobs.incomplete_cleanup_tasks.ignored_by_user_id is 'Who ignored it.';
comment on column pgjobs.incomplete_cleanup_tasks.ignore_reason is 'Why.';
comment on column pgjobs.incomplete_cleanup_tasks.task_id is 'Number of the cleanup task.';

-- Cleanup tasks as they are shown, in the order given. Its plan is kept: the view
-- joins so much that planning takes longer than a page of it.
create function pgjobs._shown_cleanups(task_ids bigint[])
returns setof pgjobs.incomplete_cleanup_tasks
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select c.*
  from pgjobs.incomplete_cleanup_tasks as c
  where c.task_id = any (_shown_cleanups.task_ids)
  order by array_position(_shown_cleanups.task_ids, c.task_id);
end
$$;

comment on function pgjobs._shown_cleanups is
  'Cleanup tasks as they are shown. Example: select status from pgjobs._shown_cleanups(array[42])';

-- Their events are kept as long as they are, so the numbers do not shift.
create view pgjobs.incomplete_cleanup_events as
select
  (t.payload ->> 'run_id')::uuid as run_id,
  row_number() over (partition by t.id order by e.id)::integer as seq,
  e.at as ts,
  case
    when e.kind = 'retrying' and coalesce(e.fields ->> 'error_kind', '') not in ('auth', 'config') then 'warn'
    when e.kind in ('retrying', 'failed', 'cancelled') then 'error'
    else 'info'
  end as level,
  case e.kind
    when 'started' then 'attempt'
    when 'completed' then coalesce(o.result ->> 'outcome', 'deleted')
    when 'retrying' then case when e.fields ->> 'error_kind' in ('auth', 'config') then 'blocked' else 'failed' end
    when 'failed' then 'abandoned'
    when 'cancelled' then 'abandoned'
    when 'retried' then 'retry_now'
    else e.kind
  end as kind,
  coalesce(pgjobs._redact_line(e.message), case e.kind
    when 'started' then 'An attempt began'
    when 'completed' then case o.result ->> 'outcome'
      when 'skip_complete' then 'The run is complete: nothing was deleted'
      when 'skip_not_found' then 'There was nothing to delete'
      else 'What the run left behind was deleted'
    end
    when 'ignored' then 'Ignored'
    when 'unignored' then 'No longer ignored'
    when 'retried' then 'Retried by an operator'
    else e.kind
  end) as message,
  pgjobs._redact_document(case
    when e.kind = 'completed' then o.result - 'outcome'
    when e.kind = 'retrying' then e.fields
    when e.actor is not null then jsonb_build_object('by', e.actor)
  end) as fields_json,
  t.id as task_id
from pgjobs.jobs as j
join pgjobs.tasks as t on t.room = '@internal' and t.job_id = j.id
join pgjobs.events as e on e.task_id = t.id
left join pgjobs.outcomes as o on o.task_id = t.id
where j.full_name = '@internal:maintenance:incomplete-cleanup'
  and e.kind in ('started', 'completed', 'retrying', 'failed', 'cancelled', 'ignored', 'unignored', 'retried');

comment on view pgjobs.incomplete_cleanup_events is
  'What happened to cleanup tasks, and who did it. Example: select seq, ts, kind, message from pgjobs.incomplete_cleanup_events where run_id = ''<run id>''';
comment on column pgjobs.incomplete_cleanup_events.run_id is 'The run.';
comment on column pgjobs.incomplete_cleanup_events.seq is 'From 1, for each run.';
comment on column pgjobs.incomplete_cleanup_events.ts is 'When.';
comment on column pgjobs.incomplete_cleanup_events.level is 'info, warn or error.';
comment on column pgjobs.incomplete_cleanup_events.kind is
  'attempt, skip_complete, skip_not_found, deleted, failed, blocked, ignored, unignored, abandoned or retry_now.';
comment on column pgjobs.incomplete_cleanup_events.message is 'What happened, one line, redacted.';
comment on column pgjobs.incomplete_cleanup_events.fields_json is 'Details, redacted; `by` is who did it.';
comment on column pgjobs.incomplete_cleanup_events.task_id is 'Number of the cleanup task.';
