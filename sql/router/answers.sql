-- Where a node is, for PL/Proxy. Everybody who may call a verb may ask: an address holds no password.
create or replace function pgjobs_router.address(to_node integer)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select n.address from pgjobs_router.nodes as n where n.number = to_node $$;

-- What this session knows to be away, for five seconds: a machine that is gone answers a connection with silence.
create or replace function pgjobs_router.is_away(to_node integer)
returns boolean
language sql volatile
as $$
  select coalesce(
    (nullif(current_setting('pgjobs_router.away', true), '')::jsonb ->> to_node::text)::double precision
    > extract(epoch from clock_timestamp()), false
  )
$$;

create or replace function pgjobs_router.note_away(to_node integer)
returns void
language plpgsql volatile
as $$
begin
  perform set_config('pgjobs_router.away', (
    coalesce(nullif(current_setting('pgjobs_router.away', true), '')::jsonb, '{}')
    || jsonb_build_object(to_node, extract(epoch from clock_timestamp()) + 5)
  )::text, false);
end
$$;

-- Whether an error says that a node does not answer, and not that it refuses.
create or replace function pgjobs_router.says_away(state text, message text)
returns boolean
language sql immutable
as $$
  select (state = 'XX000' and message like 'PL/Proxy function %')
    or left(state, 2) = '08' or state in ('57P01', '57P02', '57P03')
$$;

-- Whether a node that does not answer cannot have heard the call.
create or replace function pgjobs_router.says_unheard(message text)
returns boolean
language sql immutable
as $$ select message ~ '(PQconnectPoll|PQconnectStart|connect timeout|No connection|connecting)' $$;

-- Raises what a node said as it said it; of a node that does not answer what a lost server is called.
create or replace function pgjobs_router.retell(
  state text, message text, detail text, hint text, to_node integer default null
)
returns void
language plpgsql volatile
as $$
begin
  if state = 'XX000' and message like 'PL/Proxy function %' then
    raise exception using
      errcode = case when pgjobs_router.says_unheard(message) then '08001' else '08006' end,
      message = case when to_node is null then 'A node of the cluster does not answer' else format('Node %s does not answer', to_node) end,
      detail = split_part(message, E'\n', 1),
      hint = 'Run: pgjobs cluster status';
  end if;
  raise exception using
    errcode = state, message = regexp_replace(message, '^\S+\(\d+\): \[[^]]*\] REMOTE ERROR: ', ''), detail = coalesce(regexp_replace(detail, '^Remote detail: ', ''), ''),
    hint = coalesce(regexp_replace(hint, '^Remote hint: ', ''), '');
end
$$;

-- Names a node whose part of an answer is missing; raises whatever else it is.
create or replace function pgjobs_router.go_on_without(state text, message text, detail text, hint text, to_node integer)
returns void
language plpgsql volatile
as $$
begin
  if not pgjobs_router.says_away(state, message) then
    perform pgjobs_router.retell(state, message, detail, hint, to_node);
  end if;
  perform pgjobs_router.note_away(to_node);
  perform pgjobs_router.name_missing(to_node);
end
$$;

create or replace function pgjobs_router.name_missing(to_node integer)
returns void
language plpgsql volatile
as $$
begin
  raise warning using message = format('Node %s does not answer: what it has is missing here', to_node),
    hint = 'Run: pgjobs cluster status';
end
$$;

create or replace function pgjobs_router.numbers()
returns setof integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select n.number from pgjobs_router.nodes as n order by n.is_home desc, n.number $$;

-- Which node has what the cluster has once: tokens, sessions, deduplicators, grants' list, schedules of other jobs.
create or replace function pgjobs_router.home()
returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select n.number from pgjobs_router.nodes as n where n.is_home $$;

-- Where a task or workflow is; what no node can have is asked of the home, which says that it does not exist.
create or replace function pgjobs_router.node_of(number bigint)
returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select n.number from pgjobs_router.nodes as n where n.number = (node_of.number >> 44)::integer), pgjobs_router.home()
  )
$$;

create or replace function pgjobs_router.refuse_view(view text)
returns boolean
language plpgsql volatile
as $$
begin
  perform pgjobs._refuse('validation-error', format('The view %s shows tables, and a coordinator has none', refuse_view.view), null,
    'Call list_tasks, get_task, list_jobs or list_workflows here, or ask a node.');
  return false;
end
$$;

-- A cursor of events is one for each node.
create or replace function pgjobs_router.cursor_of(cursor text, to_node integer)
returns text
language plpgsql immutable
as $$
begin
  if cursor is null then
    return null;
  elsif cursor !~ '^\d+=[^;]*(;\d+=[^;]*)*$' then
    perform pgjobs._refuse('validation-error', format('Malformed cursor %s', quote_literal(left(cursor, 50))));
  end if;
  return (
    select nullif(split_part(p.part, '=', 2), '') from string_to_table(cursor, ';') as p (part)
    where split_part(p.part, '=', 1) = to_node::text
  );
end
$$;

create or replace function pgjobs_router.moved_cursor(cursor text, to_node integer, place text)
returns text
language sql immutable
as $$
  select string_agg(c.number || '=' || c.place, ';' order by c.number::integer)
  from (
    select split_part(p.part, '=', 1) as number, split_part(p.part, '=', 2) as place
    from string_to_table(moved_cursor.cursor, ';') as p (part)
    where split_part(p.part, '=', 1) <> to_node::text
    union all
    select to_node::text, coalesce(moved_cursor.place, '')
  ) as c
$$;

-- While an upgrade has replaced verbs and not yet made them ask nodes, nothing is kept here.
create or replace function pgjobs_router.refuse_rows()
returns trigger
language plpgsql
as $$
begin
  raise exception using errcode = '57P03', message = 'A coordinator keeps no tasks: its upgrade is not complete',
    hint = 'Run: pgjobs cluster init, with its nodes';
end
$$;

create or replace trigger a_coordinator_keeps_no_tasks before insert on pgjobs.tasks
for each statement execute function pgjobs_router.refuse_rows();

create or replace trigger a_coordinator_keeps_no_jobs before insert on pgjobs.jobs
for each statement execute function pgjobs_router.refuse_rows();

create or replace trigger a_coordinator_keeps_no_workers before insert on pgjobs.workers
for each statement execute function pgjobs_router.refuse_rows();
