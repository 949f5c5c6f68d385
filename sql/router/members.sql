-- Which nodes there are, and whether they answer.
create or replace function pgjobs_router.status()
returns table (
  number integer, address text, is_home boolean, is_draining boolean, is_behind boolean, slots integer, homes integer, answers boolean,
  unfinished bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_node pgjobs_router.nodes;
begin
  for v_node in select n.* from pgjobs_router.nodes as n order by n.number loop
    number := v_node.number;
    address := regexp_replace(v_node.address, 'password=''[^'']*''', 'password=***');
    is_home := v_node.is_home;
    is_draining := v_node.is_draining;
    is_behind := v_node.is_behind;
    slots := (select count(*) from pgjobs_router.slots as s where v_node.number in (s.node, s.unique_node));
    homes := (select count(*) from pgjobs_router.jobs as j where j.home = v_node.number);
    begin
      unfinished := pgjobs_router.unfinished_at(v_node.number);
      answers := true;
    exception when others then
      if not pgjobs_router.says_away(sqlstate, sqlerrm) then
        perform pgjobs_router.retell(sqlstate, sqlerrm, null, null, v_node.number);
      end if;
      unfinished := null;
      answers := false;
    end;
    return next;
  end loop;
end
$$;

create or replace function pgjobs_router.unfinished_at(to_node integer, job text default null)
returns bigint
language plpgsql volatile
as $$
begin
  return pgjobs_router.node__unfinished(unfinished_at.to_node, null, unfinished_at.job)::bigint;
end
$$;

-- The first time: slots go round. Where the first node has had tasks, it knows the keys of then, and what is unique.
create or replace function pgjobs_router.share_slots(numbers integer[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_had_tasks boolean := exists (select from pgjobs_router.node_list_tasks(numbers[1], null, null, null, null, null, null, null, 1, 0, null));
begin
  insert into pgjobs_router.slots (slot, node, former, unique_node)
  select
    s.slot, n.number, case when v_had_tasks and n.number <> numbers[1] then array[numbers[1]] else '{}' end,
    case when v_had_tasks then numbers[1] else n.number end
  from generate_series(0, 1023) as s (slot)
  join unnest(numbers) with ordinality as n (number, place) on n.place = s.slot % cardinality(numbers) + 1
  on conflict (slot) do nothing;
end
$$;

-- Gives a node its share of slots from those who have most. Their former nodes still know the keys of then.
create or replace function pgjobs_router.take_slots(to_node integer)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_share integer := 1024 / (select count(*) from pgjobs_router.nodes as n where not n.is_draining)
    - (select count(*) from pgjobs_router.slots as s where s.node = take_slots.to_node);
begin
  -- No submit is under way.
  perform pg_advisory_xact_lock(748119531);
  if exists (select from pgjobs_router.nodes as n where n.number = take_slots.to_node and (n.is_draining or n.is_behind)) then
    perform pgjobs._refuse('validation-error', format('Node %s is being drained, or lacks jobs of the others', take_slots.to_node));
  end if;
  update pgjobs_router.slots as s
  set node = take_slots.to_node, former = pgjobs_router.noted(s.former, s.node, take_slots.to_node)
  where s.slot in (
    select r.slot
    from (select o.slot, row_number() over (partition by o.node order by o.slot) as place from pgjobs_router.slots as o
      where o.node <> take_slots.to_node) as r
    order by r.place desc, r.slot
    limit greatest(v_share, 0)
  );
  return greatest(v_share, 0);
end
$$;

-- Whoever had a slot, but for who has it now.
create or replace function pgjobs_router.noted(former integer[], was integer, becomes integer)
returns integer[]
language sql immutable
as $$ select array(select distinct f.node from unnest(noted.former || noted.was) as f (node) where f.node <> noted.becomes) $$;

-- Nothing new goes to this node but what has to: tasks of jobs that have their home there, and what is unique
-- there, until nothing of them waits. Repeat it until nothing is left; the node then still answers for its past.
create or replace function pgjobs_router.drain(to_node integer)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_others integer[] := array(
    select n.number from pgjobs_router.nodes as n
    where n.number <> drain.to_node and not n.is_draining and not n.is_behind order by n.number
  );
  v_job pgjobs_router.jobs;
  v_home integer;
  v_left bigint;
begin
  if exists (select from pgjobs_router.nodes as n where n.number = drain.to_node and n.is_home) then
    perform pgjobs._refuse('validation-error', format('Node %s has what the cluster has once: tokens, sessions, providers, schedules', drain.to_node),
      null, 'Drain another; this one can be moved as a database, under its number.');
  elsif cardinality(v_others) = 0 then
    perform pgjobs._refuse('validation-error', 'There is no other node to take over');
  end if;
  -- No submit is under way, and none begins before this commits.
  perform pg_advisory_xact_lock(748119531);
  update pgjobs_router.nodes as n set is_draining = true where n.number = drain.to_node;
  update pgjobs_router.slots as s
  set
    node = v_others[s.slot % cardinality(v_others) + 1],
    former = pgjobs_router.noted(s.former, s.node, v_others[s.slot % cardinality(v_others) + 1])
  where s.node = drain.to_node;
  for v_job in select j.* from pgjobs_router.jobs as j where j.home = drain.to_node loop
    if pgjobs_router.unfinished_at(drain.to_node, v_job.name) = 0 then
      v_home := v_others[v_job.id % cardinality(v_others) + 1];
      update pgjobs_router.jobs as j
      set home = v_home, former = pgjobs_router.noted(j.former, drain.to_node, v_home)
      where j.id = v_job.id;
      perform from pgjobs_router.node_resume_job(v_home, null, v_job.name, 'cluster', format('Its home was node %s', drain.to_node));
      perform pgjobs_router.close_elsewhere(v_job.name, v_home);
    end if;
  end loop;
  v_left := pgjobs_router.unfinished_at(drain.to_node);
  if v_left = 0 then
    update pgjobs_router.slots as s set unique_node = s.node where s.unique_node = drain.to_node;
  end if;
  return v_left;
exception when others then
  perform pgjobs_router.retell(sqlstate, sqlerrm, null, null, drain.to_node);
end
$$;
