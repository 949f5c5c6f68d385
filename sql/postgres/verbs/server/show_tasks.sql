-- Tasks submitted from a room as HTTP shows them, newest first: all, or those of
-- one job, or of one status. A retired job's tasks stay readable.
create function pgjobs.show_tasks(
  room text, job text default null, status text default null, page_size integer default 50, page_offset integer default 0
)
returns setof pgjobs.task_answer
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_jobs integer[] := pgjobs._jobs_to_list(show_tasks.room, show_tasks.job, show_tasks.status);
  v_ids bigint[];
begin
  perform pgjobs._check_page(show_tasks.page_size, show_tasks.page_offset);
  v_ids := array(
    select p.id
    from pgjobs._page_of_tasks(
      show_tasks.room, v_jobs, show_tasks.status, null, show_tasks.page_size::bigint + show_tasks.page_offset
    ) as p (id)
    offset show_tasks.page_offset
  );
  -- A join would not reach into the view, and every task would be looked at.
  return query
  with places as materialized (
    select q.task_id, q.place from pgjobs._queue_positions(v_ids) as q
  )
  select
    a.id, a.uuid, a.job, a.room, a.status, a.created_at, a.started_at, a.ended_at, a.worker_id, a.error, a.payload,
    a.result, (select p.place from places as p where p.task_id = a.id)
  from pgjobs.task_answer as a
  where a.id = any (v_ids)
  order by a.id desc;
end
$$;

comment on function pgjobs.show_tasks is
  'Tasks of a room as HTTP shows them. Example: select uuid, status from pgjobs.show_tasks(''lab-7'', status => ''failed'')';
