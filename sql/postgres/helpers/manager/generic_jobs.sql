create function pgjobs._refuse_generic_change()
returns trigger
language plpgsql
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  perform pgjobs._refuse('direct-change', format('%s on %s is refused', tg_op, tg_table_name),
    'It shows the rows of several tables.', case tg_op
      when 'INSERT' then 'select * from pgjobs.create_generic_jobs(domain, queue, job_type, payloads)'
      when 'UPDATE' then 'select * from pgjobs.cancel_task(id, reason), or complete_tasks, fail_tasks, release_tasks, retry_task'
      else 'select * from pgjobs.prune_tasks(older_than => interval, of_status => status)'
    end);
  return null;
end
$$;

comment on function pgjobs._refuse_generic_change is
  'Trigger: refuses changes of pgjobs.generic_jobs and names the verb. Example: update pgjobs.generic_jobs set status = ''failed''';

-- The tasks of some jobs that have a status of the generic job manager other
-- than completed, from where such tasks live; none for any other status.
create function pgjobs._generic_homes(status text, job_ids integer[], before bigint)
returns table (task_id bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  case _generic_homes.status
    when 'processing' then
      return query
      select l.task_id from pgjobs.leases as l
      where l.job_id = any (_generic_homes.job_ids) and l.task_id < _generic_homes.before;
    when 'queued' then
      return query
      select r.task_id from pgjobs.ready as r
      where r.job_id = any (_generic_homes.job_ids) and r.task_id < _generic_homes.before
      union all
      select s.task_id from pgjobs.scheduled as s
      where s.job_id = any (_generic_homes.job_ids) and s.task_id < _generic_homes.before;
    when 'failed', 'cancelled' then
      return query
      select o.task_id from pgjobs.outcomes as o
      where o.status = _generic_homes.status and o.status <> 'completed'
        and o.job_id = any (_generic_homes.job_ids) and o.task_id < _generic_homes.before
      union all
      select i.task_id from pgjobs.ignored as i
      where _generic_homes.status = 'cancelled' and not i.is_quarantined
        and i.job_id = any (_generic_homes.job_ids) and i.task_id < _generic_homes.before;
    when 'quarantined' then
      return query
      select i.task_id from pgjobs.ignored as i
      where i.is_quarantined and i.job_id = any (_generic_homes.job_ids) and i.task_id < _generic_homes.before;
    else
      return;
  end case;
end
$$;

comment on function pgjobs._generic_homes is
  'Tasks with a status of the generic job manager, from where they live. Example: select * from pgjobs._generic_homes(''queued'', array[1], 1000000)';

-- What a job type can be called, in the words of the generic job manager: the first
-- job of a type registers it.
create function pgjobs._check_job_type(domain text, queue text, job_type text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if domain is null or domain = '' or domain ~ '[@:]' or length(domain) > 200 then
    perform pgjobs._refuse('invalid-room-id', 'domain must have 1 to 200 characters, neither @ nor a colon',
      format('Got %s.', coalesce(quote_literal(left(domain, 200)), 'null')));
  end if;
  if queue is null or queue = '' or queue ~ ':' or length(queue) > 200 then
    perform pgjobs._refuse('invalid-category', 'queue must have 1 to 200 characters and no colon',
      format('Got %s.', coalesce(quote_literal(left(queue, 200)), 'null')));
  end if;
  if job_type is null or job_type = '' or length(job_type) > 200 then
    perform pgjobs._refuse('validation-error', 'job_type must have 1 to 200 characters',
      format('Got %s.', coalesce(quote_literal(left(job_type, 200)), 'null')));
  end if;
end
$$;

comment on function pgjobs._check_job_type is
  'Refuses names that a job type cannot have. Example: select pgjobs._check_job_type(''chatbooks'', ''default'', ''export'')';

-- How many jobs of an owner are under leases that have not lapsed, in a domain. Whoever counts
-- has the owner's turn until their transaction ends, so that no two count the same slot.
create function pgjobs._inflight(domain text, owner_user_id text)
returns bigint
language plpgsql volatile
as $$
begin
  perform pgjobs._require_read_committed('Jobs that a quota counts are acquired');
  perform pg_advisory_xact_lock(hashtextextended('inflight:' || domain || ':' || coalesce(owner_user_id, ''), 7));
  return (
    select count(*)
    from pgjobs.leases as l
    join pgjobs.tasks as t on t.id = l.task_id
    where t.room = _inflight.domain and t.owner is not distinct from _inflight.owner_user_id
      and (l.until is null or l.until > pgjobs._now())
  );
end
$$;

comment on function pgjobs._inflight is
  'How many jobs of an owner are leased. Example: select pgjobs._inflight(''chatbooks'', ''ada'')';

-- Jobs by what they are, in a status of the generic job manager that is not completed, oldest first.
-- Whatever narrows the choice is said here: asked of the first `most` afterwards, it would never reach those behind.
create function pgjobs._chosen_generic(
  domain text, queue text, job_type text, status text, owner_user_id text, most integer,
  only_ids bigint[] default null, created_before timestamptz default null, claimed_before timestamptz default null,
  is_retrying boolean default false, is_free boolean default false
)
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_jobs integer[] := array(
    select j.id from pgjobs.jobs as j
    where j.room = coalesce(_chosen_generic.domain, j.room)
      and j.category = coalesce(_chosen_generic.queue, j.category)
      and j.name = coalesce(_chosen_generic.job_type, j.name)
  );
begin
  if most is null or most not between 1 and 1000 then
    perform pgjobs._refuse('validation-error', 'limit must be between 1 and 1000', format('Got %s.', most));
  end if;
  return array(
    select t.id
    from pgjobs._generic_homes(_chosen_generic.status, v_jobs, 9223372036854775807) as h
    join pgjobs.tasks as t on t.id = h.task_id
    left join pgjobs.scheduled as s on s.task_id = t.id
    where (_chosen_generic.owner_user_id is null or t.owner = _chosen_generic.owner_user_id)
      and (_chosen_generic.only_ids is null or t.id = any (_chosen_generic.only_ids))
      and (_chosen_generic.created_before is null or t.created_at < _chosen_generic.created_before)
      and (_chosen_generic.claimed_before is null or exists (
        select from pgjobs.leases as l where l.task_id = t.id and l.claimed_at < _chosen_generic.claimed_before
      ))
      and (not _chosen_generic.is_retrying or (s.error is not null and s.waits_for is null))
      and (not _chosen_generic.is_free or s.waits_for is null)
    order by t.id
    limit _chosen_generic.most
  );
end
$$;

comment on function pgjobs._chosen_generic is
  'Jobs by what they are. Example: select pgjobs._chosen_generic(''chatbooks'', ''default'', null, ''queued'', null, 100)';
