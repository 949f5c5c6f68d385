-- How many jobs there are, by type, owner and status. `scheduled` are those queued jobs that are
-- due later.
create function pgjobs.summarize_generic_jobs(
  of_domain text default null, of_queue text default null, of_type text default null, of_owner text default null
)
returns table (domain text, queue text, job_type text, owner_user_id text, status text, quantity bigint, scheduled bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
begin
  return query
  select j.room, j.category, j.name, t.owner, h.status, count(*), count(*) filter (where h.is_later)
  from pgjobs.jobs as j
  join (
    select r.job_id, r.task_id, 'queued' as status, false as is_later from pgjobs.ready as r
    union all
    select s.job_id, s.task_id, 'queued', s.run_at > v_now from pgjobs.scheduled as s
    union all
    select l.job_id, l.task_id, 'processing', false from pgjobs.leases as l
    union all
    select i.job_id, i.task_id, case when i.is_quarantined then 'quarantined' else 'cancelled' end, false from pgjobs.ignored as i
    union all
    select o.job_id, o.task_id, o.status, false from pgjobs.outcomes as o
  ) as h on h.job_id = j.id
  join pgjobs.tasks as t on t.id = h.task_id
  where j.room = coalesce(summarize_generic_jobs.of_domain, j.room)
    and j.category = coalesce(summarize_generic_jobs.of_queue, j.category)
    and j.name = coalesce(summarize_generic_jobs.of_type, j.name)
    and (summarize_generic_jobs.of_domain is null or t.room = summarize_generic_jobs.of_domain)
    and (summarize_generic_jobs.of_owner is null or t.owner = summarize_generic_jobs.of_owner)
  group by j.room, j.category, j.name, t.owner, h.status
  order by j.room, j.category, j.name, t.owner, h.status;
end
$$;

comment on function pgjobs.summarize_generic_jobs is
  'How many jobs there are, by type, owner and status. Example: select * from pgjobs.summarize_generic_jobs(''chatbooks'')';
