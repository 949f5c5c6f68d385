-- Pauses or resumes a queue: `pause` and `drain` have none of its jobs acquired, those of
-- types that are registered later neither, while what runs continues; `resume` ends that. Jobs are
-- accepted all the time. A queue that is drained says so, for whoever waits for what runs.
create function pgjobs.control_queue(
  domain text, queue text, action text, actor text default null, reason text default null
)
returns table (mode text, since timestamptz, job_types integer, processing bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_reason text := pgjobs._redact_line(nullif(control_queue.reason, ''));
  v_jobs integer[];
  v_job integer;
begin
  if control_queue.action is null or control_queue.action not in ('pause', 'resume', 'drain') then
    perform pgjobs._refuse('validation-error', 'action must be pause, resume or drain', format('Got %s.', quote_nullable(control_queue.action)));
  end if;
  if control_queue.domain is null or control_queue.queue is null then
    perform pgjobs._refuse('validation-error', 'domain and queue must be given');
  end if;
  if control_queue.domain not in ('@global', '@internal') then
    perform pgjobs._check_job_type(control_queue.domain, control_queue.queue, 'any');
  end if;
  if control_queue.action = 'resume' then
    delete from pgjobs.queue_controls as q where q.room = control_queue.domain and q.category = control_queue.queue;
  else
    insert into pgjobs.queue_controls as q (room, category, mode, since, actor, reason)
    values (control_queue.domain, control_queue.queue, control_queue.action, v_now, control_queue.actor, v_reason)
    on conflict (room, category) do update
    set mode = excluded.mode, actor = excluded.actor, reason = excluded.reason;
  end if;
  v_jobs := array(
    select j.id from pgjobs.jobs as j
    where j.room = control_queue.domain and j.category = control_queue.queue
    order by j.id
  );
  update pgjobs.jobs as j
  set
    paused_at = case when control_queue.action <> 'resume' then coalesce(j.paused_at, v_now) end,
    pause_reason = case when control_queue.action <> 'resume' then coalesce(v_reason, j.pause_reason, 'The queue is held') end
  where j.id = any (v_jobs);
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  select
    v_now, case when control_queue.action = 'resume' then 'job_resumed' else 'job_paused' end, j.id, control_queue.domain,
    control_queue.actor, v_reason
  from unnest(v_jobs) as j (id);
  if control_queue.action = 'resume' then
    foreach v_job in array v_jobs loop
      perform pgjobs._wake(v_job, 100);
    end loop;
  end if;
  return query
  select
    q.mode, q.since, cardinality(v_jobs),
    (select count(*) from pgjobs.leases as l where l.job_id = any (v_jobs))
  from (select) as one
  left join pgjobs.queue_controls as q on q.room = control_queue.domain and q.category = control_queue.queue;
end
$$;

comment on function pgjobs.control_queue is
  'Pauses or resumes a queue. Example: select * from pgjobs.control_queue(''chatbooks'', ''default'', ''pause'')';
