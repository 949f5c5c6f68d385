-- Retention gives the disk back: outcomes and events live in partitions, by number.
-- Sweeps make the next one ahead of time and drop those that are empty; what has no
-- partition goes to the default one, so that a missing one stops nobody. What is
-- there already becomes the first partition, where it lies.

alter table pgjobs.outcomes rename to outcomes_from_0;
alter table pgjobs.outcomes_from_0 rename constraint outcomes_pkey to outcomes_from_0_pkey;
alter index pgjobs.outcomes_to_look_at rename to outcomes_from_0_to_look_at;
alter index pgjobs.outcomes_in_time rename to outcomes_from_0_in_time;
alter index pgjobs.outcomes_unfinished rename to outcomes_from_0_unfinished;

create table pgjobs.outcomes (
  like pgjobs.outcomes_from_0 including defaults including constraints including comments including storage,
  primary key (task_id)
) partition by range (task_id);
create index outcomes_to_look_at on pgjobs.outcomes (status, task_id) where status <> 'completed';
create index outcomes_in_time on pgjobs.outcomes using brin (ended_at) with (autosummarize = on);
create index outcomes_unfinished on pgjobs.outcomes (job_id, ended_at) where status <> 'completed';
comment on table pgjobs.outcomes is
  'How tasks ended. Written once, never changed. In partitions by the number of the task.';

alter table pgjobs.events rename to events_from_0;
alter table pgjobs.events_from_0 rename constraint events_pkey to events_from_0_pkey;
alter index pgjobs.events_of_a_task rename to events_from_0_of_a_task;
alter index pgjobs.events_in_time rename to events_from_0_in_time;

create table pgjobs.events (
  like pgjobs.events_from_0 including defaults including constraints including comments including storage,
  primary key (xid, id)
) partition by range (id);
create index events_of_a_task on pgjobs.events (task_id, id) where task_id is not null;
create index events_in_time on pgjobs.events using brin (at) with (autosummarize = on);
comment on table pgjobs.events is 'Append-only facts: what changed, when, by whom. In partitions by number.';

-- A partition may not have an identity of its own; numbers go on where they were.
alter table pgjobs.events_from_0 alter column id drop identity;
alter table pgjobs.events alter column id add generated always as identity;

do $$
declare
  v_table text;
  v_key text;
  v_last bigint;
  v_from bigint;
  v_name text;
begin
  foreach v_table in array array['outcomes', 'events'] loop
    v_key := case v_table when 'events' then 'id' else 'task_id' end;
    execute format('select coalesce(max(%I), 0) from pgjobs.%I', v_key, v_table || '_from_0') into v_last;
    if v_table = 'events' and v_last > 0 then
      perform setval('pgjobs.events_id_seq', v_last);
    end if;
    -- Outcomes come by numbers that tasks have already.
    v_last := greatest(v_last, (select s.last_value from pgjobs.tasks_id_seq as s where v_table = 'outcomes'));
    v_from := (v_last / 250000 + 1) * 250000;
    execute format(
      'alter table pgjobs.%1$I attach partition pgjobs.%2$I for values from (0) to (%3$s)',
      v_table, v_table || '_from_0', v_from
    );
    foreach v_name in array array[v_table || '_from_' || v_from, v_table || '_default'] loop
      execute format(
        'create table pgjobs.%I (like pgjobs.%I including defaults including constraints including indexes '
        'including comments including storage)', v_name, v_table
      );
      execute format(
        'alter table pgjobs.%I attach partition pgjobs.%I %s', v_table, v_name,
        case when v_name like '%default' then 'default' else format('for values from (%s) to (%s)', v_from, v_from + 250000) end
      );
    end loop;
    execute format('comment on table pgjobs.%I is %L', v_table || '_from_0', format('Part of %s: numbers up to %s.', v_table, v_from - 1));
    execute format('comment on table pgjobs.%I is %L', v_table || '_from_' || v_from,
      format('Part of %s: numbers from %s up to %s.', v_table, v_from, v_from + 249999));
    execute format('comment on table pgjobs.%I is %L', v_table || '_default', format('Part of %s: what no other part is for.', v_table));
  end loop;
end
$$;
