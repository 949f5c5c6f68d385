-- The same on every machine and in every release: where a key belongs is for good.
create or replace function pgjobs_router.slot_of(job text, key text)
returns integer
language sql immutable
as $$
  select ((get_byte(h.hash, 0) << 8) | get_byte(h.hash, 1)) & 1023
  from (select sha256(convert_to(slot_of.job || E'\n' || slot_of.key, 'utf8')) as hash) as h
$$;

-- Which of these keys were used at nodes that had them before. Asked as the owner: it is no verb.
create or replace function pgjobs_router.used_elsewhere(job text, keys text[])
returns table (key text, node integer)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job pgjobs_router.jobs := pgjobs_router.known(used_elsewhere.job);
  v_node integer;
  v_keys text[];
begin
  for v_node, v_keys in
    select f.node, array_agg(distinct k.key)
    from unnest(used_elsewhere.keys) as k (key)
    join pgjobs_router.slots as s on s.slot = pgjobs_router.slot_of(coalesce(v_job.name, used_elsewhere.job), k.key)
    cross join lateral unnest(case when v_job.home is null then s.former else v_job.former end) as f (node)
    group by f.node
  loop
    begin
      return query
      select u.key, v_node from pgjobs_router.node__used_keys(v_node, null, used_elsewhere.job, v_keys) as u;
    exception when others then
      perform pgjobs_router.retell(sqlstate, sqlerrm, null, null, v_node);
    end;
  end loop;
end
$$;

create or replace function pgjobs_router.slot_node(slot integer, of_unique boolean)
returns integer
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ select case when of_unique then s.unique_node else s.node end from pgjobs_router.slots as s where s.slot = slot_node.slot $$;

create or replace function pgjobs_router.any_node()
returns integer
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select n.number from pgjobs_router.nodes as n
  order by pgjobs_router.is_away(n.number), n.is_draining, n.is_behind, random()
  limit 1
$$;

-- Nobody moves a slot or a home while a submit is under way. What the caller has written in this transaction
-- would not be undone together with what a node has committed.
create or replace function pgjobs_router.open_submit()
returns void
language plpgsql volatile
as $$
begin
  if pg_current_xact_id_if_assigned() is not null then
    perform pgjobs._refuse('validation-error', 'A coordinator cannot submit within a transaction that has written',
      'The node commits by itself, whatever becomes of this transaction.',
      'Submit after the commit, under an idempotency key; or in the database of a node.');
  end if;
  perform pg_advisory_xact_lock_shared(748119531);
end
$$;

-- Where a new task goes, if that is settled: to the home of its job, to its parents, to the slot of its key.
create or replace function pgjobs_router.settled_place(
  job text, after bigint[] default null, key text default null, of_unique boolean default false
)
returns integer
language plpgsql volatile
as $$
declare
  v_job pgjobs_router.jobs := pgjobs_router.known(settled_place.job);
  v_places integer[];
begin
  if settled_place.after is null then
    return coalesce(v_job.home, case when settled_place.key is not null then pgjobs_router.slot_node(
      pgjobs_router.slot_of(coalesce(v_job.name, settled_place.job), settled_place.key), settled_place.of_unique
    ) end);
  end if;
  v_places := array(
    select distinct p.node
    from (
      select pgjobs_router.node_of(a.id) as node from unnest(settled_place.after) as a (id) where a.id is not null
      union all
      select v_job.home
    ) as p
    where p.node is not null
  );
  if cardinality(v_places) > 1 then
    perform pgjobs._refuse('validation-error', 'A task cannot wait for tasks of another node',
      format('Its parents, and the home of a limited job, are on nodes %s.', array_to_string(v_places, ', ')),
      'Submit them as one workflow.');
  end if;
  return v_places[1];
end
$$;

-- Where a task with this key is already, if that is not where new ones go.
create or replace function pgjobs_router.place_of_key(
  job text, after bigint[] default null, key text default null, of_unique boolean default false
)
returns integer
language plpgsql volatile
as $$
begin
  if place_of_key.key is null or place_of_key.after is not null or place_of_key.of_unique then
    return null;
  end if;
  return (select u.node from pgjobs_router.used_elsewhere(place_of_key.job, array[place_of_key.key]) as u limit 1);
end
$$;

-- Whether a submit may be tried at another node: only if it is free to go anywhere, and this one cannot have heard of it.
create or replace function pgjobs_router.try_another(
  state text, message text, detail text, hint text, to_node integer, settled integer, tried integer
)
returns void
language plpgsql volatile
as $$
begin
  if state = 'PJ001' and tried = 1 and pgjobs_router.catch_up(to_node) then
    return;
  end if;
  if settled is null and state = 'XX000' and pgjobs_router.says_unheard(message)
    and tried < (select count(*) from pgjobs_router.numbers())
  then
    perform pgjobs_router.note_away(to_node);
    return;
  end if;
  perform pgjobs_router.retell(state, message, detail, hint, to_node);
end
$$;
