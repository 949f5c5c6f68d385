-- The busiest jobs on a narrow screen, for \watch: what is in line and in hand
-- now, and per minute of the last five. `wait` and `run` are what 95 of 100
-- tasks stayed below.
create function pgjobs.top()
returns table (
  job text,
  state text,
  live integer,
  due bigint,
  oldest text,
  later bigint,
  held bigint,
  done double precision,
  failed double precision,
  wait text,
  run text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_alive timestamptz := v_now - (select s.worker_timeout from pgjobs.settings as s);
  v_served integer[] := pgjobs._served_jobs(v_now);
begin
  return query
  select
    case when length(j.full_name) > 27 then left(j.full_name, 9) || '…' || right(j.full_name, 17) else j.full_name end,
    case
      when j.archived_at is not null then 'archived'
      when j.paused_at is not null then 'paused'
      when d.overdue > 0 then 'overdue'
      when d.waiting > 0 and j.id <> all (v_served) then 'unserved'
      when d.waiting + d.claimed + d.running > 0 then 'busy'
      else 'idle'
    end,
    w.alive, d.waiting, pgjobs._short_duration(extract(epoch from pgjobs._elapsed(d.oldest_at, v_now))::double precision),
    d.scheduled, d.claimed + d.running, round(coalesce(m.completed, 0) / 5.0, 1)::double precision,
    round(coalesce(m.failed, 0) / 5.0, 1)::double precision,
    pgjobs._short_duration(m.wait_p95), pgjobs._short_duration(m.run_p95)
  from pgjobs.jobs as j
  join pgjobs._depths() as d on d.job_id = j.id
  cross join lateral (
    select count(*)::integer as alive
    from pgjobs.worker_jobs as l
    join pgjobs.workers as k on k.id = l.worker_id
    where l.job_id = j.id and k.last_heartbeat_at >= v_alive
  ) as w
  left join pgjobs._rates(array(select j.id from pgjobs.jobs as j), v_now - interval '5 minutes') as m on m.job_id = j.id
  order by d.claimed + d.running desc, d.waiting desc, coalesce(m.completed, 0) desc, j.full_name
  limit 40;
end
$$;

comment on function pgjobs.top is 'The busiest jobs on a narrow screen. Example: select * from pgjobs.top()';
