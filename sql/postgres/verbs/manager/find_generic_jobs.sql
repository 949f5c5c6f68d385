-- Jobs that fit every filter, sorted by `sort_by` (id, created_at, available_at, priority or
-- status) `sort_order` (asc or desc). Unlike list_generic_jobs it reads all that fit but for the
-- page, so it is for filters that leave few.
create function pgjobs.find_generic_jobs(
  domain text default null,
  queue text default null,
  job_type text default null,
  status text default null,
  owner_user_id text default null,
  project_id bigint default null,
  created_after timestamptz default null,
  created_before timestamptz default null,
  before_id bigint default null,
  batch_group text default null,
  sort_by text default 'id',
  sort_order text default 'desc',
  page_size integer default 50,
  page_offset integer default 0
)
returns setof pgjobs.generic_jobs
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_jobs integer[] := array(
    select j.id from pgjobs.jobs as j
    where j.room = coalesce(find_generic_jobs.domain, j.room)
      and j.category = coalesce(find_generic_jobs.queue, j.category)
      and j.name = coalesce(find_generic_jobs.job_type, j.name)
  );
begin
  perform pgjobs._check_page(find_generic_jobs.page_size, find_generic_jobs.page_offset);
  if not coalesce(
    find_generic_jobs.sort_by in ('id', 'created_at', 'available_at', 'priority', 'status')
    and find_generic_jobs.sort_order in ('asc', 'desc'), false
  ) then
    perform pgjobs._refuse('validation-error', 'sort_by must be id, created_at, available_at, priority or status, and sort_order asc or desc',
      format('Got %s, %s.', quote_nullable(find_generic_jobs.sort_by), quote_nullable(find_generic_jobs.sort_order)));
  end if;
  return query
  with fitting as materialized (
    select
      g as job, g.id,
      case find_generic_jobs.sort_by
        when 'id' then g.id
        when 'created_at' then extract(epoch from g.created_at)
        when 'available_at' then extract(epoch from g.available_at)
        when 'priority' then g.priority
      end::numeric as rank,
      case when find_generic_jobs.sort_by = 'status' then g.status end as word
    from pgjobs.tasks as t
    cross join lateral (select v.* from pgjobs.generic_jobs as v where v.id = t.id offset 0) as g
    where t.job_id = any (v_jobs)
      and (find_generic_jobs.domain is null or t.room = find_generic_jobs.domain)
      and (find_generic_jobs.owner_user_id is null or t.owner = find_generic_jobs.owner_user_id)
      and (find_generic_jobs.project_id is null or t.project = find_generic_jobs.project_id::text)
      and (find_generic_jobs.created_after is null or t.created_at > find_generic_jobs.created_after)
      and (find_generic_jobs.created_before is null or t.created_at < find_generic_jobs.created_before)
      and (find_generic_jobs.before_id is null or t.id < find_generic_jobs.before_id)
      and (find_generic_jobs.batch_group is null or t.tags @> array['batch:' || find_generic_jobs.batch_group])
      and (find_generic_jobs.status is null or g.status = find_generic_jobs.status)
  )
  select (f.job).*
  from fitting as f
  order by
    case when find_generic_jobs.sort_order = 'asc' then f.rank end,
    case when find_generic_jobs.sort_order = 'asc' then f.word end,
    case when find_generic_jobs.sort_order = 'desc' then f.rank end desc nulls last,
    case when find_generic_jobs.sort_order = 'desc' then f.word end desc,
    f.id desc
  limit find_generic_jobs.page_size offset find_generic_jobs.page_offset;
end
$$;

comment on function pgjobs.find_generic_jobs is
  'Jobs that fit every filter, sorted. Example: select id, status from pgjobs.find_generic_jobs(''chatbooks'', sort_by => ''priority'', sort_order => ''asc'')';
