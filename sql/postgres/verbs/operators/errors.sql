-- Failed attempts of the last week by fingerprint, those of today first. What
-- differs only in numbers, ids and quoted words counts as one error.
create function pgjobs.errors(of_job text default null)
returns table (
  fingerprint text,
  job text,
  error_kind text,
  message text,
  last_hour bigint,
  last_day bigint,
  last_week bigint,
  last_at timestamptz,
  last_task_id bigint
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_job integer := case when errors.of_job is not null then (pgjobs._find_job(errors.of_job)).id end;
begin
  return query
  with known as (
    select c.since, c.job_id, c.fingerprint, c.quantity, c.error_kind, c.message, c.last_at, c.last_task_id
    from pgjobs.error_counts as c
    where c.since > v_now - interval '7 days'
    union all
    -- What no sweep has counted yet, as far as it can be read in a moment.
    select
      u.at, u.job_id, pgjobs._error_fingerprint(u.error_kind, u.message), 1, u.error_kind,
      left(split_part(u.message, E'\n', 1), 200), u.at, u.task_id
    from pgjobs._uncounted_errors(1000) as u
    where u.is_error
  )
  select
    k.fingerprint, j.full_name, min(k.error_kind), (array_agg(k.message order by k.last_at desc))[1],
    coalesce(sum(k.quantity) filter (where k.since > v_now - interval '1 hour'), 0)::bigint,
    coalesce(sum(k.quantity) filter (where k.since > v_now - interval '1 day'), 0)::bigint,
    sum(k.quantity)::bigint, max(k.last_at), (array_agg(k.last_task_id order by k.last_at desc))[1]
  from known as k
  join pgjobs.jobs as j on j.id = k.job_id
  where v_job is null or k.job_id = v_job
  group by k.fingerprint, j.full_name
  order by 6 desc, 7 desc, k.fingerprint
  limit 500;
end
$$;

comment on function pgjobs.errors is
  'Failed attempts by fingerprint. Example: select last_hour, last_day, job, message from pgjobs.errors()';
