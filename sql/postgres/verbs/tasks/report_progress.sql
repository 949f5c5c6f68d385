-- Keeps what workers report about running tasks, and tells which should stop.
create function pgjobs.report_progress(task_ids bigint[], tokens uuid[], progress jsonb[])
returns table (task_id bigint, cancel_requested boolean, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_held tid[];
begin
  perform pgjobs._check_batch(
    report_progress.task_ids, report_progress.tokens, coalesce(cardinality(report_progress.progress), -1)
  );
  perform pgjobs._check_documents(report_progress.progress, 'progress');
  v_held := pgjobs._lock_leases(report_progress.task_ids, report_progress.tokens, v_now);
  update pgjobs.leases as l
  set
    progress = report_progress.progress[array_position(report_progress.tokens, l.token)],
    started_at = coalesce(l.started_at, v_now),
    updated_at = v_now
  where l.ctid = any (v_held);
  return query
  select
    i.task_id,
    l.cancel_requested_at is not null,
    case when l.task_id is null then pgjobs._lost_or_unknown(i.task_id) end
  from unnest(report_progress.task_ids, report_progress.tokens) as i (task_id, token)
  left join pgjobs.leases as l
    on l.task_id = i.task_id and l.token = i.token and (l.until is null or l.until > v_now);
end
$$;

comment on function pgjobs.report_progress is
  'Stores the progress that workers report. Example: select * from pgjobs.report_progress(array[42], array[''<token>''::uuid], array[''{"done": 0.5}''::jsonb])';
