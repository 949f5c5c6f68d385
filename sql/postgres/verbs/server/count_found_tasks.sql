-- How many tasks find_tasks would find: exact up to pgjobs._last_counted_row(),
-- further up, and where a search looks at a part only, at least so many.
create function pgjobs.count_found_tasks(
  room text default null,
  job text default null,
  status text default null,
  owner text default null,
  since timestamptz default null,
  until timestamptz default null,
  matching text default null,
  in_payloads boolean default false
)
returns table (total integer, relation text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_last integer := pgjobs._last_counted_row();
  v_jobs integer[] := case when count_found_tasks.job is not null then pgjobs._jobs_matching(count_found_tasks.job) end;
  v_found integer;
  v_is_more boolean;
begin
  if count_found_tasks.status = 'pending' and count_found_tasks.room is null and pgjobs._rooms() is null
    and coalesce(count_found_tasks.owner, count_found_tasks.matching) is null
    and coalesce(count_found_tasks.since, count_found_tasks.until) is null
  then
    -- A backlog is counted where it waits.
    select count(*)::integer, count(*) > v_last into v_found, v_is_more
    from (
      select from pgjobs.ready as r
      where v_jobs is null or r.job_id = any (v_jobs)
      union all
      select from pgjobs.scheduled as s
      where v_jobs is null or s.job_id = any (v_jobs)
      limit v_last + 1
    ) as f;
  elsif count_found_tasks.room is not null and coalesce(count_found_tasks.owner, count_found_tasks.matching) is null
    and coalesce(count_found_tasks.since, count_found_tasks.until) is null and coalesce(cardinality(v_jobs), 1) = 1
  then
    return query
    select c.total, c.relation
    from pgjobs.count_tasks(count_found_tasks.room, v_jobs[1]::text, count_found_tasks.status) as c;
    return;
  else
    select cardinality(f.ids), f.next is not null into v_found, v_is_more
    from pgjobs._found_tasks(
      count_found_tasks.room, count_found_tasks.job, count_found_tasks.status, count_found_tasks.owner,
      count_found_tasks.since, count_found_tasks.until, count_found_tasks.matching, null, v_last + 1,
      count_found_tasks.in_payloads
    ) as f;
  end if;
  return query
  select least(v_found, v_last), case when v_is_more then 'gte' else 'eq' end;
end
$$;

comment on function pgjobs.count_found_tasks is
  'How many tasks fit some filters. Example: select total, relation from pgjobs.count_found_tasks(status => ''failed'')';
