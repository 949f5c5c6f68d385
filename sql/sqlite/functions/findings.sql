-- findings()
--
-- What an operator should look at, the worst first: severity, subject, what is
-- wrong, and what to run. No rows: nothing is known to be wrong.
-- include served_jobs
select now() - 3600000000 as v_since, 'job' as v_by, null as v_step, null as v_job;
-- include rates
with lines as materialized (
  select
    j.id, j.full_name, j.paused_at, j.archived_at, min(t.due_at) as oldest_at,
    iif(count(*) = 1, '1 task waits', count(*) || ' tasks wait') as waiting
  from tasks as t
  cross join jobs as j on j.id = t.job_id
  where t.is_ready
  group by j.id
), found (severity, subject, message, advice) as (
  select
    'error', 'sweep',
    iif(count(*) = 1, '1 lease', count(*) || ' leases') || ' lapsed more than two minutes ago, not ended since', 'sweep()'
  from tasks as t
  where t.status in ('claimed', 'running') and t.until < now() - 120000000
  having count(*) > 0
  union all
  select
    'error', 'sweep',
    iif(count(*) = 1, '1 worker', count(*) || ' workers') || ' silent for longer than allowed, not cleaned up since', 'sweep()'
  from workers as w
  cross join settings as s
  where w.last_heartbeat_at < now() - 120000000 - s.worker_timeout
  having count(*) > 0
  union all
  select
    'error', 'sweep', 'Scheduled tasks are due for ' || short_duration((now() - min(t.due_at)) / 1e6) || ' and not in line',
    'sweep(''scheduled'')'
  from tasks as t
  where t.status = 'pending' and not t.is_ready and t.due_at < now() - 120000000
  having count(*) > 0
  union all
  select
    'warning', 'task ' || t.id,
    'Asked to stop ' || short_duration((now() - t.cancel_requested_at) / 1e6) || ' ago, its holder does not heed it',
    'cancel_task(' || t.id || ', force)'
  from tasks as t
  where t.status in ('claimed', 'running') and t.cancel_requested_at < now() - 600000000
  union all
  select
    'warning', 'job ' || l.full_name,
    l.waiting || ', the oldest for ' || short_duration((now() - l.oldest_at) / 1e6)
    || ', and nobody serves the job', 'waiting()'
  from lines as l
  where l.paused_at is null and l.archived_at is null and l.oldest_at < now() - 60000000
    and l.id not in (select v.value from json_each(:v_served) as v)
  union all
  select
    'info', 'job ' || l.full_name,
    l.waiting || '; the job was ' || iif(l.archived_at is null, 'paused ', 'archived ')
    || short_duration((now() - coalesce(l.archived_at, l.paused_at)) / 1e6) || ' ago',
    iif(l.archived_at is null, 'resume_job(', 'unarchive_job(') || quote(l.full_name) || ')'
  from lines as l
  where l.paused_at is not null or l.archived_at is not null
  union all
  select
    'error', 'schedule ' || s.full_name,
    'It is due for ' || short_duration((now() - s.next_run_at) / 1e6) || ' and nobody starts it', 'fire_schedules()'
  from schedules as s
  where s.next_run_at < now() - 120000000
  union all
  select
    'warning', 'schedule ' || s.full_name, 'It runs for nothing: ' || s.job || ' is ' || replace(s.state, 'job ', ''),
    iif(s.state = 'job archived', 'unarchive_job(' || quote(s.job) || ')', 'pause_schedule(' || quote(s.full_name) || ')')
  from schedule as s
  where s.state in ('job archived', 'job retired')
  union all
  select 'warning', 'schedule ' || s.full_name, 'Its last three runs failed', 'errors(' || quote(s.job) || ')'
  from schedule as s
  where s.paused_at is null
    and json_extract(s.recent, '$[0].status') = 'failed'
    and json_extract(s.recent, '$[1].status') = 'failed'
    and json_extract(s.recent, '$[2].status') = 'failed'
  union all
  select
    'warning', 'job ' || j.full_name,
    json_extract(r.value, '$.failed') || ' of '
    || (json_extract(r.value, '$.failed') + json_extract(r.value, '$.completed'))
    || ' tasks that ended in the last hour failed', 'errors(' || quote(j.full_name) || ')'
  from json_each(:v_rates) as r
  cross join jobs as j on j.id = json_extract(r.value, '$.part')
  where json_extract(r.value, '$.failed') >= 10
    and json_extract(r.value, '$.failed') > json_extract(r.value, '$.completed')
)
select f.severity, f.subject, f.message, f.advice
from found as f
order by case f.severity when 'error' then 1 when 'warning' then 2 else 3 end, f.subject, f.message;
