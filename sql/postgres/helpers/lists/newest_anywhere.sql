-- Whether more than `few` tasks are pending. Callers that forbid sequential scans
-- would make it read their index entry by entry.
create function pgjobs._is_backlog(few integer)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return _is_backlog.few < (select count(*) from (select from pgjobs.ready limit _is_backlog.few + 1) as r)
    + (select count(*) from (select from pgjobs.scheduled limit _is_backlog.few + 1) as s);
end
$$;

comment on function pgjobs._is_backlog is 'Whether more tasks are pending than that. Example: select pgjobs._is_backlog(20000)';

-- Numbers of the newest tasks of some status, or of any, over all rooms. Each
-- status is read where its rows live.
create function pgjobs._newest_anywhere(status text, before bigint, wanted bigint)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_few constant integer := 20000;
  v_is_backlog boolean;
begin
  if status is null then
    return query
    select t.id from pgjobs.tasks as t where t.id < _newest_anywhere.before order by t.id desc limit wanted;
  elsif status = 'completed' then
    return query
    select o.task_id from pgjobs.outcomes as o
    where o.status = 'completed' and o.task_id < _newest_anywhere.before
    order by o.task_id desc
    limit wanted;
  elsif status in ('failed', 'cancelled') then
    return query
    select o.task_id from pgjobs.outcomes as o
    where o.status = _newest_anywhere.status and o.status <> 'completed' and o.task_id < _newest_anywhere.before
    order by o.task_id desc
    limit wanted;
  elsif status = 'ignored' then
    return query
    select i.task_id from pgjobs.ignored as i where i.task_id < _newest_anywhere.before order by i.task_id desc limit wanted;
  elsif status in ('claimed', 'running') then
    return query
    select l.task_id from pgjobs.leases as l
    where (l.started_at is null) = (_newest_anywhere.status = 'claimed') and l.task_id < _newest_anywhere.before
    order by l.task_id desc
    limit wanted;
  else
    -- Few pending tasks are all looked at; in a backlog the newest tasks are it.
    v_is_backlog := pgjobs._is_backlog(v_few);
    return query
    select p.id
    from (
      select t.id
      from pgjobs.tasks as t
      where v_is_backlog and t.id < _newest_anywhere.before
        and not exists (select from pgjobs.outcomes as o where o.task_id = t.id)
        and not exists (select from pgjobs.leases as l where l.task_id = t.id)
        and not exists (select from pgjobs.ignored as i where i.task_id = t.id)
      order by t.id desc
      limit wanted
    ) as p
    union all
    select f.task_id
    from (
      select r.task_id from pgjobs.ready as r where not v_is_backlog and r.task_id < _newest_anywhere.before
      union all
      select s.task_id from pgjobs.scheduled as s where not v_is_backlog and s.task_id < _newest_anywhere.before
      order by 1 desc
      limit wanted
    ) as f;
  end if;
end
$$;

comment on function pgjobs._newest_anywhere is
  'Numbers of the newest tasks of a status. Example: select * from pgjobs._newest_anywhere(''failed'', 1000, 50)';
