-- Which node of a cluster this queue is; 0 for one that is no part of any.
create function pgjobs._node()
returns integer
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return (select n.number from pgjobs.node as n);
end
$$;

comment on function pgjobs._node is 'Which node of a cluster this queue is. Example: select pgjobs._node()';

create function pgjobs._first_number(node integer)
returns bigint
language sql immutable
return node::bigint << 44;

comment on function pgjobs._first_number is
  'Below which no task of a node is numbered. Example: select pgjobs._first_number(3)';

-- Also of workflows, which are numbered likewise.
create function pgjobs._node_of(task_id bigint)
returns integer
language sql immutable
return (task_id >> 44)::integer;

comment on function pgjobs._node_of is 'The node a task was submitted to. Example: select pgjobs._node_of(52776558133249)';

-- Makes this queue a node: its tasks are numbered from the node's base on, and `task_key`
-- is what it makes public ids with, the same on every node. Says whether anything changed.
--
-- Only a queue without tasks can become one, because numbers and public ids do not change.
create function pgjobs._become_node(number integer, task_key bytea default null)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_node integer;
  v_key bytea := (select s.task_key from pgjobs.secrets as s);
  v_sequence text;
begin
  if _become_node.number is null or _become_node.number not between 0 and 511 then
    perform pgjobs._refuse('validation-error', 'A node has a number from 0 to 511', format('Got %s.', _become_node.number));
  end if;
  if length(_become_node.task_key) <> 32 then
    perform pgjobs._refuse('validation-error', 'A key of public ids has 32 bytes');
  end if;
  select n.number into v_node from pgjobs.node as n for update;
  if v_node = _become_node.number and v_key = coalesce(_become_node.task_key, v_key) then
    return false;
  end if;
  lock table pgjobs.tasks, pgjobs.workflows in share row exclusive mode;
  if (select t.is_called from pgjobs.tasks_id_seq as t) or (select w.is_called from pgjobs.workflows_id_seq as w) then
    perform pgjobs._refuse('validation-error',
      format('This queue is node %s and has had tasks, whose numbers and public ids cannot change', v_node),
      null, 'Install the node in a database of its own.');
  end if;
  update pgjobs.node set number = _become_node.number;
  update pgjobs.secrets as s set task_key = coalesce(_become_node.task_key, s.task_key);
  foreach v_sequence in array array['tasks', 'workflows'] loop
    -- It ends where the next node begins.
    execute format(
      'alter table pgjobs.%I alter column id set maxvalue %s restart with %s',
      v_sequence, pgjobs._first_number(_become_node.number + 1) - 1, pgjobs._first_number(_become_node.number) + 1
    );
  end loop;
  perform pgjobs._move_partitions();
  return true;
end
$$;

comment on function pgjobs._become_node is
  'Makes a queue without tasks a node of a cluster. Example: select pgjobs._become_node(3)';

-- For a coordinator: which of these idempotency keys were used here, and by which task.
create function pgjobs._used_keys(job text, keys text[])
returns table (key text, task_id bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select k.key, k.task_id
  from pgjobs.idempotency_keys as k
  where k.job_id = (pgjobs._find_job(_used_keys.job)).id and k.key = any (_used_keys.keys);
end
$$;

comment on function pgjobs._used_keys is
  'Which idempotency keys were used here. Example: select * from pgjobs._used_keys(''@global:tests:Work'', array[''order 7''])';

-- For a coordinator: how much of a job, or of all, is unfinished here, schedules among it.
create function pgjobs._unfinished(job text default null)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job integer := (select j.id from pgjobs.jobs as j where j.full_name = _unfinished.job);
begin
  if _unfinished.job is null then
    return (select count(*) from pgjobs.ready) + (select count(*) from pgjobs.scheduled) + (select count(*) from pgjobs.leases)
      + (select count(*) from pgjobs.schedules);
  end if;
  return (select count(*) from pgjobs.ready as r where r.job_id = v_job)
    + (select count(*) from pgjobs.scheduled as s where s.job_id = v_job)
    + (select count(*) from pgjobs.leases as l where l.job_id = v_job)
    + (select count(*) from pgjobs.schedules as c where c.job_id = v_job);
end
$$;

comment on function pgjobs._unfinished is
  'How much of a job is unfinished here. Example: select pgjobs._unfinished(''@global:tests:Work'')';
