-- Keeps what workers report about running tasks, and tells which should stop.
create function pgjobs.report_progress(task_ids bigint[], tokens uuid[], progress jsonb[])
returns table (task_id bigint, cancel_requested boolean, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_held tid[];
begin
  perform pgjobs.check_batch(
    report_progress.task_ids, report_progress.tokens, coalesce(cardinality(report_progress.progress), -1)
  );
  perform pgjobs.check_documents(report_progress.progress, 'progress');
  v_held := pgjobs.lock_leases(report_progress.task_ids, report_progress.tokens, v_now);
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
    case when l.task_id is null then pgjobs.lost_or_unknown(i.task_id) end
  from unnest(report_progress.task_ids, report_progress.tokens) as i (task_id, token)
  left join pgjobs.leases as l
    on l.task_id = i.task_id and l.token = i.token and (l.until is null or l.until > v_now);
end
$$;

comment on function pgjobs.report_progress is
  'Keeps what workers report. Example: select * from pgjobs.report_progress(array[42], array[''<token>''::uuid], array[''{"done": 0.5}''::jsonb])';
