-- A page of cleanup tasks, next due first; then those that wait for nothing, changed
-- last first; then those that are done, newest first. `total` counts all pages.
create function pgjobs.list_cleanups(
  statuses text[] default null,
  target_types text[] default null,
  of_node text default null,
  of_job text default null,
  page_size integer default 20,
  page_offset integer default 0,
  of_kind text default null
)
returns table (
  run_id uuid,
  job_id uuid,
  job_name text,
  node_id text,
  target_type text,
  target_snapshot_json jsonb,
  status text,
  attempts integer,
  created_at timestamptz,
  updated_at timestamptz,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  last_error_kind text,
  last_error text,
  ignored_at timestamptz,
  ignored_by_user_id text,
  ignore_reason text,
  task_id bigint,
  total bigint
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_chosen record;
begin
  perform pgjobs._check_page(list_cleanups.page_size, list_cleanups.page_offset);
  perform pgjobs._check_cleanup_statuses(list_cleanups.statuses);
  -- Found first and shown afterwards: redacting is dear, and a page is short.
  v_chosen := pgjobs._chosen_cleanups(
    list_cleanups.statuses, list_cleanups.target_types, list_cleanups.of_node, list_cleanups.of_job,
    list_cleanups.of_kind, list_cleanups.page_size, list_cleanups.page_offset
  );
  return query select c.*, v_chosen.total from pgjobs._shown_cleanups(v_chosen.task_ids) as c;
end
$$;

comment on function pgjobs.list_cleanups is
  'Cleanup tasks, next due first. Example: select run_id, status, total from pgjobs.list_cleanups(statuses => array[''blocked''])';
