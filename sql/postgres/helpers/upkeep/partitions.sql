-- The partitions of outcomes and events: each with the numbers it is for, both empty
-- for the default one, and the number that was given out last.
create function pgjobs._partitions()
returns table (parent text, partition text, lower bigint, upper bigint, last_number bigint)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_tasks bigint := (select s.last_value from pgjobs.tasks_id_seq as s);
  v_events bigint := (select s.last_value from pgjobs.events_id_seq as s);
begin
  return query
  select
    p.relname::text, c.relname::text, b.bounds[1]::bigint, b.bounds[2]::bigint,
    case p.relname when 'events' then v_events else v_tasks end
  from pg_class as p
  join pg_inherits as i on i.inhparent = p.oid
  join pg_class as c on c.oid = i.inhrelid
  cross join lateral (
    select regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''(\d+)''\) TO \(''(\d+)''\)')
  ) as b (bounds)
  where p.relnamespace = to_regnamespace('pgjobs') and p.relkind = 'p'
  order by p.relname, b.bounds[1]::bigint nulls last;
end
$$;

comment on function pgjobs._partitions is 'The partitions of outcomes and events. Example: select * from pgjobs._partitions()';

-- Rows of a table, or of one of its partitions, change through verbs only, from psql
-- as from anywhere: verbs run under a search_path that is nobody else's, and a
-- statement without it is refused. Judged once per statement; a condition on the trigger
-- would cost three times as much, because Postgres parses it anew each time.
create function pgjobs._guard_table(relation text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  execute format(
    'create or replace trigger only_verbs_change_rows before insert or update or delete on pgjobs.%I for each statement '
    'execute function pgjobs._refuse_strangers()', _guard_table.relation
  );
  execute format(
    'create or replace trigger nothing_is_truncated before truncate on pgjobs.%I for each statement '
    'execute function pgjobs._refuse_direct_change()', _guard_table.relation
  );
end
$$;

comment on function pgjobs._guard_table is
  'Lets only verbs change the rows of a table. Example: see pgjobs._make_partition, which guards what it made';

-- Makes one partition. Built apart and attached, which waits for nobody who uses the
-- others; the default one is locked while its rows are looked through.
create function pgjobs._make_partition(parent text, lower bigint, upper bigint)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_name text := _make_partition.parent || '_from_' || _make_partition.lower;
begin
  execute format(
    'create table pgjobs.%I (like pgjobs.%I including defaults including constraints including indexes '
    'including comments including storage)', v_name, _make_partition.parent
  );
  execute format(
    'comment on table pgjobs.%I is %L', v_name,
    format('Part of %s: numbers from %s up to %s.', _make_partition.parent, _make_partition.lower, _make_partition.upper - 1)
  );
  execute format('revoke all on pgjobs.%I from public', v_name);
  perform pgjobs._guard_table(v_name);
  execute format(
    'alter table pgjobs.%I attach partition pgjobs.%I for values from (%s) to (%s)',
    _make_partition.parent, v_name, _make_partition.lower, _make_partition.upper
  );
end
$$;

comment on function pgjobs._make_partition is
  'Makes a partition. Example: see pgjobs._extend_partitions, which knows where the next one begins';

-- Keeps partitions coming: at least one lies ahead of the numbers given out. Each is
-- for 250,000 numbers, or for an eighth of those that are kept, so that there are
-- never many; a look-up of a task pays for each of them.
--
-- When numbers have run ahead, the next partition begins above them. The default one
-- must then be read through while acknowledgements wait, so one larger than
-- `most_bytes` is left as it is until somebody asks (see pgjobs.findings).
create function pgjobs._extend_partitions(parent text, most_bytes bigint default 1000000000)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_known record;
  v_width bigint;
  v_lower bigint;
  v_made integer := 0;
begin
  if pg_table_size(to_regclass('pgjobs.' || quote_ident(_extend_partitions.parent || '_default'))) > _extend_partitions.most_bytes then
    return 0;
  end if;
  loop
    select min(p.lower) as lowest, max(p.upper) as highest, max(p.last_number) as last_number into v_known
    from pgjobs._partitions() as p
    where p.parent = _extend_partitions.parent;
    v_width := greatest(250000, (v_known.last_number - coalesce(v_known.lowest, v_known.last_number)) / 8);
    exit when v_known.highest - v_known.last_number > v_width or v_made = 10;
    v_lower := coalesce(v_known.highest, pgjobs._first_of(_extend_partitions.parent));
    if v_known.last_number >= v_lower then
      -- Numbers go on being given out while the lock is waited for.
      v_lower := v_known.last_number + 10000;
    end if;
    perform pgjobs._make_partition(_extend_partitions.parent, v_lower, v_lower + v_width);
    v_made := v_made + 1;
  end loop;
  return v_made;
end
$$;

comment on function pgjobs._extend_partitions is
  'Keeps partitions coming. Example: select pgjobs._extend_partitions(''outcomes'', most_bytes => 10000000000)';

create function pgjobs._first_of(parent text)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return case _first_of.parent when 'outcomes' then pgjobs._first_number(pgjobs._node()) else 0 end;
end
$$;

comment on function pgjobs._first_of is
  'Where the numbers of a table begin: tasks are numbered by node. Example: select pgjobs._first_of(''outcomes'')';

-- For a queue that becomes a node, before it has tasks: partitions for the numbers it will give out.
create function pgjobs._move_partitions()
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_partition text;
  v_first bigint := pgjobs._first_of('outcomes');
begin
  for v_partition in
    select p.partition from pgjobs._partitions() as p where p.parent = 'outcomes' and p.lower is not null
  loop
    execute format('drop table pgjobs.%I', v_partition);
  end loop;
  perform pgjobs._make_partition('outcomes', v_first, v_first + 250000);
  perform pgjobs._extend_partitions('outcomes');
end
$$;

comment on function pgjobs._move_partitions is
  'Makes the partitions of a new node. Example: see pgjobs._become_node, which calls it';

-- Drops partitions that are empty and will stay so, which gives their disk back at
-- once. Outcomes stay while a task of their numbers can still end.
create function pgjobs._drop_partitions(parent text)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_part record;
  v_dropped integer := 0;
begin
  for v_part in
    select p.partition, p.lower, p.upper
    from pgjobs._partitions() as p
    where p.parent = _drop_partitions.parent and p.upper <= p.last_number
  loop
    if pgjobs._is_over(_drop_partitions.parent, v_part.partition, v_part.lower, v_part.upper) then
      execute format('lock table only pgjobs.%I in access exclusive mode', _drop_partitions.parent);
      -- Looked at again: somebody may have been about to write into it.
      if pgjobs._is_over(_drop_partitions.parent, v_part.partition, v_part.lower, v_part.upper) then
        execute format('drop table pgjobs.%I', v_part.partition);
        v_dropped := v_dropped + 1;
      end if;
    end if;
  end loop;
  return v_dropped;
end
$$;

comment on function pgjobs._drop_partitions is
  'Drops partitions that are empty for good. Example: select pgjobs._drop_partitions(''outcomes'')';

create function pgjobs._is_over(parent text, partition text, lower bigint, upper bigint)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_is_used boolean;
begin
  execute format('select exists (select from pgjobs.%I)', _is_over.partition) into v_is_used;
  return not v_is_used and (_is_over.parent <> 'outcomes' or not exists (
    select from pgjobs.tasks as t where t.id >= _is_over.lower and t.id < _is_over.upper
  ));
end
$$;

comment on function pgjobs._is_over is
  'Whether a partition is empty for good. Example: select pgjobs._is_over(''events'', ''events_from_0'', 0, 250000)';

-- Partitions made and dropped. One session at a time; where somebody uses a table for
-- long, its partitions wait for the next sweep.
create function pgjobs._sweep_storage()
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_table text;
  v_changed integer := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('pgjobs.partitions', 0)) then
    return 0;
  end if;
  foreach v_table in array array['outcomes', 'events'] loop
    begin
      v_changed := v_changed + pgjobs._extend_partitions(v_table);
      v_changed := v_changed + pgjobs._drop_partitions(v_table);
    exception when lock_not_available then
      null;
    end;
  end loop;
  return v_changed;
end
$$;

comment on function pgjobs._sweep_storage is
  'Makes and drops partitions. Example: select pgjobs._sweep_storage()';
