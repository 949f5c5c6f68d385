-- What the cluster knows of a job: by its address, number or public id.
create or replace function pgjobs_router.known(job text)
returns pgjobs_router.jobs
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job pgjobs_router.jobs;
begin
  select j.* into v_job from pgjobs_router.jobs as j where j.name = known.job;
  if v_job.id is null and known.job ~ '^[0-9]{1,9}$' then
    select j.* into v_job from pgjobs_router.jobs as j where j.id = known.job::integer;
  elsif v_job.id is null and known.job ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then
    select j.* into v_job from pgjobs_router.jobs as j where j.uuid = known.job::uuid;
  end if;
  return v_job;
end
$$;

-- Refuses a session that may not call the verb for which something is written here.
create or replace function pgjobs_router.require(verb text)
returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from pg_proc as p
    where p.pronamespace = 'pgjobs'::regnamespace and p.proname = require.verb
      and has_function_privilege(pgjobs._acting_role(), p.oid, 'execute')
  ) then
    raise exception using errcode = '42501', message = format('permission denied for function %s', require.verb);
  end if;
end
$$;

-- Brings a node that was away up to the others: jobs, policies, limits, grants. Says whether it had to.
create or replace function pgjobs_router.catch_up(to_node integer)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from integer := (
    select n.number from pgjobs_router.nodes as n
    where not n.is_behind and n.number <> catch_up.to_node and not pgjobs_router.is_away(n.number)
    order by n.is_home desc, n.number
    limit 1
  );
  v_told jsonb;
  v_job record;
begin
  if v_from is null or not exists (
    select from pgjobs_router.nodes as n where n.number = catch_up.to_node and n.is_behind for update
  ) then
    return false;
  end if;
  v_told := pgjobs_router.node__tell_jobs(v_from, null);
  perform pgjobs_router.node__take_over_jobs(catch_up.to_node, null, v_told);
  insert into pgjobs_router.jobs (id, uuid, name, home)
  overriding system value
  select
    j.id, j.uuid, concat_ws(':', j.room, j.category, j.name),
    case when j.max_running is not null or j.is_shared then v_from end
  from jsonb_to_recordset(v_told -> 'jobs') as j (
    id integer, uuid uuid, room text, category text, name text, max_running integer, is_shared boolean
  )
  on conflict do nothing;
  for v_job in select j.name, j.home from pgjobs_router.jobs as j where j.home is not null loop
    perform pgjobs_router.close_elsewhere(v_job.name, v_job.home, catch_up.to_node);
  end loop;
  update pgjobs_router.nodes as n set is_behind = false where n.number = catch_up.to_node;
  return true;
end
$$;

-- Lets nobody but its home start tasks of a limited job, whoever submits them at a node.
create or replace function pgjobs_router.close_elsewhere(job text, home integer, only_node integer default null)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_node integer;
begin
  for v_node in
    select n.number from pgjobs_router.nodes as n
    where n.number <> close_elsewhere.home and n.number = coalesce(close_elsewhere.only_node, n.number) and not n.is_behind
  loop
    perform from pgjobs_router.node_pause_job(
      v_node, null, close_elsewhere.job, 'cluster', format('It has a limit, and its home is node %s', close_elsewhere.home)
    );
  end loop;
end
$$;

-- The number and public id of a job, the same on every node: what nodes call it already, or new ones.
create or replace function pgjobs_router.number_job(job_name text)
returns pgjobs_router.jobs
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job pgjobs_router.jobs := pgjobs_router.known(number_job.job_name);
  v_node integer;
  v_there pgjobs.job;
begin
  if v_job.id is not null then
    return v_job;
  end if;
  perform pgjobs_router.require('register_job');
  perform pg_advisory_xact_lock(hashtextextended(number_job.job_name, 748119531));
  v_job := pgjobs_router.known(number_job.job_name);
  for v_node in select n.number from pgjobs_router.numbers() as n (number) loop
    exit when v_job.id is not null;
    begin
      select j.* into v_there from pgjobs_router.node_get_job(v_node, null, number_job.job_name, null) as j;
      insert into pgjobs_router.jobs (id, uuid, name) overriding system value
      values (v_there.id, v_there.uuid, number_job.job_name)
      returning * into v_job;
    exception
      when sqlstate 'PJ001' then
        null;
      when unique_violation then
        perform pgjobs._refuse('job-unavailable', format('Node %s calls %s by the number of another job', v_node, number_job.job_name),
          format('Number %s.', v_there.id), 'Register jobs of a cluster at its coordinator first.');
      when others then
        if not pgjobs_router.says_away(sqlstate, sqlerrm) then
          perform pgjobs_router.retell(sqlstate, sqlerrm, null, null, v_node);
        end if;
    end;
  end loop;
  if v_job.id is null then
    insert into pgjobs_router.jobs (name) values (number_job.job_name) returning * into v_job;
  end if;
  return v_job;
end
$$;

-- Settles the home of a job that is limited from now on. Its unfinished tasks are there already, or nowhere.
create or replace function pgjobs_router.give_home(job_name text)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job pgjobs_router.jobs;
  v_busy integer[] := '{}';
  v_node integer;
begin
  -- Nobody submits meanwhile.
  perform pg_advisory_xact_lock(748119531);
  v_job := pgjobs_router.known(give_home.job_name);
  if v_job.home is not null or v_job.id is null then
    return v_job.home;
  end if;
  for v_node in select n.number from pgjobs_router.numbers() as n (number) loop
    begin
      if pgjobs_router.node__unfinished(v_node, null, v_job.name)::bigint > 0 then
        v_busy := v_busy || v_node;
      end if;
    exception when others then
      perform pgjobs_router.retell(sqlstate, sqlerrm, null, null, v_node);
    end;
  end loop;
  if cardinality(v_busy) > 1 then
    perform pgjobs._refuse('job-unavailable', format('%s has unfinished tasks on several nodes, and a limit needs one home', v_job.name),
      format('On nodes %s.', array_to_string(v_busy, ', ')), 'Limit it when they have ended, or pause it and wait.');
  end if;
  update pgjobs_router.jobs as j
  set
    home = coalesce(v_busy[1], pgjobs_router.slot_node(pgjobs_router.slot_of(j.name, ''), false)),
    former = array(select n.number from pgjobs_router.numbers() as n (number))
  where j.id = v_job.id
  returning j.home into v_node;
  return v_node;
end
$$;

create or replace function pgjobs_router.note_behind(to_node integer)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pgjobs_router.require('register_job');
  update pgjobs_router.nodes as n set is_behind = true where n.number = note_behind.to_node and not n.is_behind;
end
$$;

create or replace function pgjobs_router.forget_job(job_name text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pgjobs_router.require('delete_job');
  delete from pgjobs_router.jobs as j where j.name = forget_job.job_name;
end
$$;

create or replace function pgjobs_router.is_behind(to_node integer)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select n.is_behind from pgjobs_router.nodes as n where n.number = is_behind.to_node $$;

-- Who has most unfinished tasks of a job is asked first: what refuses, refuses before others have done anything.
create or replace function pgjobs_router.busiest_first(job text)
returns setof integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select n.number
  from pgjobs_router.numbers() as n (number)
  order by pgjobs_router.unfinished_at(n.number, coalesce((pgjobs_router.known(busiest_first.job)).name, busiest_first.job)) desc;
exception when others then
  perform pgjobs_router.retell(sqlstate, sqlerrm, null, null, null);
end
$$;
