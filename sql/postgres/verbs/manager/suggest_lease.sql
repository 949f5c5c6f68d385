-- How long a lease of such jobs should be: 1.3 times what nineteen of twenty of the last
-- thousand that completed took, of the slowest type; null while none has.
create function pgjobs.suggest_lease(domain text, queue text, job_type text default null)
returns table (lease interval)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select make_interval(secs => 1.3 * max(p.seconds))
  from pgjobs.jobs as j
  cross join lateral (
    select percentile_cont(0.95) within group (order by extract(epoch from r.ended_at - r.claimed_at)) as seconds
    from (
      select o.ended_at, o.claimed_at
      from pgjobs.tasks as t
      join pgjobs.outcomes as o on o.task_id = t.id and o.status = 'completed'
      where t.room = suggest_lease.domain and t.job_id = j.id
      order by t.id desc
      limit 1000
    ) as r
  ) as p
  where j.room = suggest_lease.domain and j.category = suggest_lease.queue
    and j.name = coalesce(suggest_lease.job_type, j.name)
  having max(p.seconds) is not null;
end
$$;

comment on function pgjobs.suggest_lease is
  'How long leases of such jobs should be. Example: select lease from pgjobs.suggest_lease(''chatbooks'', ''default'', ''export'')';
