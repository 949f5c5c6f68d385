-- The 200 newest tasks that failed for good.
create function pgjobs.failed()
returns table (
  task_id bigint,
  job text,
  room text,
  ended_at timestamptz,
  attempt smallint,
  max_attempts smallint,
  error_kind text,
  error text,
  worker_id uuid,
  holder text,
  owner text,
  task_uuid uuid
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select
    o.task_id, j.full_name, t.room, o.ended_at, o.attempt, t.max_attempts, o.error_kind,
    left(split_part(o.error, E'\n', 1), 200), o.worker_id, o.holder, t.owner, pgjobs.task_uuid(o.task_id)
  from (
    select f.* from pgjobs.outcomes as f
    where f.status = 'failed' and f.status <> 'completed'
    order by f.task_id desc
    limit 200
  ) as o
  join pgjobs.tasks as t on t.id = o.task_id
  join pgjobs.jobs as j on j.id = o.job_id
  order by o.task_id desc;
end
$$;

comment on function pgjobs.failed is
  'The newest failed tasks. Example: select task_id, job, error from pgjobs.failed() limit 20';
