-- Tasks in the words of the generic job manager, newest first, that fit every
-- filter given; of a domain, those submitted in it. `cursor` pages on from where
-- next_cursor says a page ended, `before` from a task.
--
-- All but completed tasks are looked for where they live, so that finding them
-- costs the same however long the history is.
create function pgjobs.list_generic_jobs(
  domain text default null,
  queue text default null,
  job_type text default null,
  status text default null,
  owner_user_id text default null,
  project_id bigint default null,
  before bigint default null,
  page_size integer default 50,
  page_offset integer default 0,
  cursor text default null
)
returns setof pgjobs.generic_jobs
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_jobs integer[] := array(
    select j.id from pgjobs.jobs as j
    where j.room = coalesce(list_generic_jobs.domain, j.room)
      and j.category = coalesce(list_generic_jobs.queue, j.category)
      and j.name = coalesce(list_generic_jobs.job_type, j.name)
  );
  v_before bigint := least(list_generic_jobs.before, pgjobs._place_of_cursor(list_generic_jobs.cursor));
  v_project text := list_generic_jobs.project_id::text;
  v_tasks bigint[];
begin
  perform pgjobs._check_page(list_generic_jobs.page_size, list_generic_jobs.page_offset);
  if list_generic_jobs.status not in ('queued', 'processing', 'completed', 'failed', 'cancelled', 'quarantined') then
    perform pgjobs._refuse('validation-error', format('Unknown status %s', quote_literal(list_generic_jobs.status)),
      null, 'queued, processing, completed, failed, cancelled or quarantined');
  end if;
  v_tasks := array(
    select t.id
    from pgjobs._generic_homes(list_generic_jobs.status, v_jobs, v_before) as h
    join pgjobs.tasks as t on t.id = h.task_id
    where (list_generic_jobs.domain is null or t.room = list_generic_jobs.domain)
      and (list_generic_jobs.owner_user_id is null or t.owner = list_generic_jobs.owner_user_id)
      and (v_project is null or t.project = v_project)
    order by t.id desc
    limit list_generic_jobs.page_size offset list_generic_jobs.page_offset
  );
  if coalesce(list_generic_jobs.status, 'completed') = 'completed' then
    v_tasks := array(
      select t.id
      from pgjobs.tasks as t
      where t.job_id = any (v_jobs)
        and t.id < v_before
        and (list_generic_jobs.domain is null or t.room = list_generic_jobs.domain)
        and (list_generic_jobs.owner_user_id is null or t.owner = list_generic_jobs.owner_user_id)
        and (v_project is null or t.project = v_project)
        -- Not exists (): that would become a join, and with it a look at all of history.
        and (list_generic_jobs.status is null or 'completed' = (
          select o.status from pgjobs.outcomes as o where o.task_id = t.id
        ))
      order by t.id desc
      limit list_generic_jobs.page_size offset list_generic_jobs.page_offset
    );
  end if;
  -- Lateral and not flattened: a join with the view would read all of it.
  return query
  select g.*
  from unnest(v_tasks) with ordinality as i (task_id, place)
  cross join lateral (select v.* from pgjobs.generic_jobs as v where v.id = i.task_id offset 0) as g
  order by i.place;
end
$$;

comment on function pgjobs.list_generic_jobs is
  'Tasks in the generic manager''s words, newest first. Example: select id, job_type, status from pgjobs.list_generic_jobs(''chatbooks'', status => ''failed'')';
