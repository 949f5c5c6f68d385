-- How many tasks show_tasks would list: exact up to pgjobs._last_counted_row(),
-- further up at least as many, with relation gte.
create function pgjobs.count_tasks(room text, job text default null, status text default null)
returns table (total integer, relation text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_jobs integer[] := pgjobs._jobs_to_list(count_tasks.room, count_tasks.job, count_tasks.status);
  v_last integer := pgjobs._last_counted_row();
  v_found integer;
  v_is_all boolean := true;
begin
  if count_tasks.status is null then
    select count(*) into v_found
    from (
      select from pgjobs.tasks as t
      where t.room = count_tasks.room and t.job_id = any (v_jobs)
      limit v_last + 1
    ) as f;
  elsif count_tasks.status = 'pending' then
    select c.matching, c.is_all into v_found, v_is_all
    from pgjobs._count_pending(count_tasks.room, v_jobs, v_last + 1, v_last + 1) as c;
  elsif count_tasks.status in ('completed', 'failed', 'cancelled') then
    select c.matching, c.is_all into v_found, v_is_all
    from pgjobs._count_ended(count_tasks.room, v_jobs, count_tasks.status, v_last + 1, 2 * v_last) as c;
  else
    select count(*) into v_found
    from pgjobs._page_of_tasks(count_tasks.room, v_jobs, count_tasks.status, null, v_last + 1);
  end if;
  return query
  select least(v_found, v_last), case when v_found > v_last or not v_is_all then 'gte' else 'eq' end;
end
$$;

comment on function pgjobs.count_tasks is
  'How many tasks a room has. Example: select total, relation from pgjobs.count_tasks(''lab-7'', status => ''failed'')';
