-- Registered workers, the silent ones first, with the jobs they serve and the
-- tasks they hold: of each the first few, and how many there are.
create function pgjobs.show_workers(
  page_size integer default 50, page_offset integer default 0, few integer default 5, of_job text default null
)
returns table (
  id uuid,
  name text,
  owner text,
  registered_at timestamptz,
  last_heartbeat_at timestamptz,
  is_alive boolean,
  job_count integer,
  serves jsonb,
  task_count integer,
  holds jsonb
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_jobs integer[] := pgjobs._own_jobs();
  v_job integer := case when show_workers.of_job is not null then (pgjobs._find_own_job(show_workers.of_job)).id end;
  v_alive timestamptz := pgjobs._now() - (select s.worker_timeout from pgjobs.settings as s);
  v_key bytea := (select k.task_key from pgjobs.secrets as k);
begin
  perform pgjobs._check_page(show_workers.page_size, show_workers.page_offset);
  return query
  with page as (
    select w.* from pgjobs.workers as w
    where (v_jobs is null or exists (
      select from pgjobs.worker_jobs as s where s.worker_id = w.id and s.job_id = any (v_jobs)
    ))
      and (v_job is null or exists (select from pgjobs.worker_jobs as s where s.worker_id = w.id and s.job_id = v_job))
    order by w.last_heartbeat_at > v_alive, w.name, w.id
    limit show_workers.page_size offset show_workers.page_offset
  ), held as (
    select
      l.*,
      count(*) over (partition by l.worker_id) as of_worker,
      row_number() over (partition by l.worker_id order by l.claimed_at, l.task_id) as place
    from pgjobs.leases as l
    -- By the key: the pages of a busy table are mostly empty.
    where l.task_id > 0 and l.worker_id in (select p.id from page as p)
      and (v_rooms is null or exists (
        select from pgjobs.tasks as t where t.id = l.task_id and t.room = any (v_rooms)
      ))
  ), works as (
    select
      h.worker_id,
      min(h.of_worker)::integer as quantity,
      jsonb_agg(jsonb_build_object(
        'id', pgjobs._uuid_of(h.task_id, v_key), 'job', j.full_name,
        'claimed_at', pgjobs._known_moment(h.claimed_at), 'started_at', pgjobs._known_moment(h.started_at),
        'attempt', h.attempt
      ) order by h.place) as tasks
    from held as h
    join pgjobs.jobs as j on j.id = h.job_id
    where h.place <= show_workers.few
    group by h.worker_id
  )
  select
    p.id, p.name, p.owner, p.registered_at, p.last_heartbeat_at, p.last_heartbeat_at > v_alive,
    (
      select count(*)::integer from pgjobs.worker_jobs as s
      where s.worker_id = p.id and (v_jobs is null or s.job_id = any (v_jobs))
    ),
    (
      select coalesce(jsonb_agg(f.full_name order by f.full_name), '[]')
      from (
        select j.full_name from pgjobs.worker_jobs as s
        join pgjobs.jobs as j on j.id = s.job_id
        where s.worker_id = p.id and (v_jobs is null or s.job_id = any (v_jobs))
        order by j.full_name
        limit show_workers.few
      ) as f
    ),
    coalesce(w.quantity, 0), coalesce(w.tasks, '[]')
  from page as p
  left join works as w on w.worker_id = p.id
  order by p.last_heartbeat_at > v_alive, p.name, p.id;
end
$$;

comment on function pgjobs.show_workers is
  'Workers with their jobs and tasks. Example: select name, is_alive, serves, task_count from pgjobs.show_workers()';
