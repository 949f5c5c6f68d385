-- Limits what a job may run, wherever, from now on: `max_running` tasks at once, so many of
-- one key, so many in a window of time (`rate`, such as 100/min, and `rate_per_key`). `fair`
-- has keys take turns, each with as many tasks as its weight; `ordered` has the tasks of one
-- key run one at a time, in order of submission, also over retries.
--
-- What runs already is counted and continues. An option that is left out stays as it is;
-- `max_running` is lifted when nothing is named at all, `max_running_per_key` by 0, a rate by none.
create function pgjobs.limit_job(
  job text,
  max_running integer default null,
  actor text default null,
  reason text default null,
  max_running_per_key integer default null,
  rate text default null,
  rate_per_key text default null,
  fair boolean default null,
  ordered boolean default null,
  on_failure text default null,
  weights jsonb default null
)
returns setof pgjobs.job
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs._find_job(limit_job.job);
  v_keeps boolean := limit_job.max_running is null and num_nonnulls(
    limit_job.max_running_per_key, limit_job.rate, limit_job.rate_per_key, limit_job.fair, limit_job.ordered,
    limit_job.on_failure, limit_job.weights
  ) > 0;
begin
  perform pgjobs._check_limit(limit_job.max_running);
  update pgjobs.jobs as j
  set max_running = limit_job.max_running
  where j.id = v_job.id and not v_keeps;
  perform pgjobs._count_unlimited();
  perform pgjobs._weigh_keys(v_job.id, limit_job.weights);
  perform pgjobs._share_job(
    v_job.id, limit_job.max_running_per_key, limit_job.rate, limit_job.rate_per_key, limit_job.fair, limit_job.ordered,
    limit_job.on_failure
  );
  insert into pgjobs.events (at, kind, job_id, room, actor, message, fields)
  values (
    pgjobs._now(), 'job_limited', v_job.id, v_job.room, limit_job.actor, pgjobs._redact_line(limit_job.reason),
    case when v_keeps then '{}' else jsonb_build_object('max_running', limit_job.max_running) end
    || jsonb_strip_nulls(jsonb_build_object(
      'max_running_per_key', limit_job.max_running_per_key, 'rate', limit_job.rate, 'rate_per_key', limit_job.rate_per_key,
      'fair', limit_job.fair, 'ordered', limit_job.ordered, 'on_failure', limit_job.on_failure, 'weights', limit_job.weights
    ))
  );
  perform pgjobs._wake(v_job.id, 100);
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

comment on function pgjobs.limit_job is
  'Limits what a job may run. Example: select * from pgjobs.limit_job(''@global:modifiers:Rotate'', max_running_per_key => 2, fair => true)';
