create function pgjobs._refuse_direct_change()
returns trigger
language plpgsql
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._refuse('direct-change', format('%s on %s is refused (%s)', tg_op, tg_table_name, tg_name),
    'Rows are changed by verbs only, and some never.', 'select * from pgjobs.help()');
  return null;
end
$$;

comment on function pgjobs._refuse_direct_change is 'Trigger: refuses changes that no verb makes. Example: update pgjobs.tasks set priority = 1';

create function pgjobs._refuse_strangers()
returns trigger
language plpgsql
as $$
begin
  if current_setting('search_path') <> 'pg_catalog, pgjobs, pg_temp' then
    perform pgjobs._refuse('direct-change', format('%s on %s is refused (%s)', tg_op, tg_table_name, tg_name),
      'Rows are changed by verbs only, and some never.', 'select * from pgjobs.help()');
  end if;
  return null;
end
$$;

comment on function pgjobs._refuse_strangers is 'Trigger: refuses statements that no verb makes. Example: delete from pgjobs.tasks';

create function pgjobs._announce_scheduled()
returns trigger
language plpgsql
as $$
begin
  if not exists (select from new_rows as n where n.error is not null) then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, message, fields)
  select
    pgjobs._now(), 'retrying', n.task_id, n.job_id, t.room, 'pending', left(n.error, 500),
    jsonb_build_object('attempt', n.attempt, 'run_at', n.run_at, 'error_kind', n.error_kind)
  from new_rows as n
  join pgjobs.tasks as t on t.id = n.task_id
  where n.error is not null;
  return null;
end
$$;

comment on function pgjobs._announce_scheduled is 'Trigger: records failed attempts that will be retried. Example: fires on insert into pgjobs.scheduled';

create function pgjobs._announce_started()
returns trigger
language plpgsql
as $$
begin
  if not exists (select from pgjobs.jobs as j where j.events = 'full') then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id)
  select n.started_at, 'started', n.task_id, n.job_id, t.room, 'running', n.worker_id
  from new_rows as n
  join old_rows as o on o.task_id = n.task_id and o.started_at is null and n.started_at is not null
  join pgjobs.jobs as j on j.id = n.job_id and j.events = 'full'
  join pgjobs.tasks as t on t.id = n.task_id;
  return null;
end
$$;

comment on function pgjobs._announce_started is 'Trigger: records started tasks of jobs that ask for full events. Example: fires on update of pgjobs.leases';
