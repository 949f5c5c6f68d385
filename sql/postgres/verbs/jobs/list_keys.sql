-- The keys of a job in order of name: how many tasks of each are due and running (counted up
-- to a thousand), who holds them, and why a key with waiting tasks cannot run one now:
-- `full`, `rate` (until `resumes_at`) or `order` (an earlier task is not due yet). The empty
-- key stands for tasks without one. The next page begins `after` the last key of this one.
create function pgjobs.list_keys(job text, after text default null, page_size integer default 100)
returns table (
  key text,
  waiting integer,
  running integer,
  weight integer,
  oldest_due_at timestamptz,
  stopped_by text,
  resumes_at timestamptz,
  holders text[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs._find_job(list_keys.job);
  v_policy pgjobs.sharing;
begin
  if page_size is null or page_size not between 1 and 1000 then
    perform pgjobs._refuse('validation-error', 'page_size must be between 1 and 1000', format('Got %s.', page_size));
  end if;
  if pgjobs._is_closed(v_job.room) then
    perform pgjobs._refuse('forbidden', 'The keys of a shared job are everybody''s');
  end if;
  select s.* into v_policy from pgjobs.sharing as s where s.job_id = v_job.id;
  return query
  select
    k.key, w.waiting::integer, l.running::integer, coalesce(g.weight, 1)::integer, w.oldest_at,
    case when w.waiting > 0 then pgjobs._stopped_by(v_policy, k.key) end,
    (select min(r.resumes_at) from pgjobs.key_rests as r where r.job_id = v_job.id and r.key = k.key), l.holders
  from pgjobs._known_keys(v_job.id, list_keys.after, list_keys.page_size) as k (key)
  cross join lateral (
    select count(*) as waiting, min(f.due_at) as oldest_at
    from (
      select r.due_at from pgjobs.ready as r
      where r.job_id = v_job.id and r.key = k.key
      order by r.place, r.task_id
      limit 1000
    ) as f
  ) as w
  cross join lateral (
    select count(*) as running, (array_agg(distinct coalesce(h.holder, h.worker_id::text)))[1:5] as holders
    from (
      select o.holder, o.worker_id from pgjobs.leases as o
      where o.job_id = v_job.id and o.key = k.key and o.is_limited
      limit 1000
    ) as h
  ) as l
  left join pgjobs.key_weights as g on g.job_id = v_job.id and g.key = k.key
  order by k.key;
end
$$;

comment on function pgjobs.list_keys is
  'The keys of a job: who waits, who runs. Example: select key, waiting, running, stopped_by from pgjobs.list_keys(''@global:modifiers:Rotate'')';
