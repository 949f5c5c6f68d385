-- A task's place among those of its key: by priority, then due time; where order is kept, by submission.
create function pgjobs._key_place(is_ordered boolean, priority smallint, due_at timestamptz, task_id bigint)
returns bigint
language plpgsql stable
as $$
begin
  return case
    when is_ordered then task_id
    else priority * 288230376151711744 + greatest(0, least(pgjobs._micros(due_at), 288230376151711743))
  end;
end
$$;

comment on function pgjobs._key_place is
  'A task''s place among those of its key. Example: select pgjobs._key_place(false, 5::smallint, pgjobs._now(), 42)';

-- Puts new tasks of a job that shares by key where they wait.
create function pgjobs._enter_shared(job_id integer, task_ids bigint[], due_at timestamptz, is_again boolean)
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_keys text[];
begin
  with entered as (
    insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again, key, place)
    select
      t.job_id, t.priority, _enter_shared.due_at, t.id, _enter_shared.is_again, coalesce(t.key, ''),
      pgjobs._key_place(s.is_ordered, t.priority, _enter_shared.due_at, t.id)
    from unnest(_enter_shared.task_ids) as n (id)
    join pgjobs.tasks as t on t.id = n.id
    join pgjobs.sharing as s on s.job_id = t.job_id
    returning key
  )
  select array_agg(distinct e.key) into v_keys from entered as e;
  perform pgjobs._offer_keys(_enter_shared.job_id, v_keys);
end
$$;

comment on function pgjobs._enter_shared is
  'Puts new tasks of a job that shares by key where they wait. Example: see pgjobs.submit_tasks, which calls it';

-- Gives tasks that came back, where their job shares by key, their key and their place.
create function pgjobs._enter_keys(task_ids bigint[])
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_entered record;
begin
  if not exists (select from pgjobs.jobs as j where j.is_shared) then
    return;
  end if;
  update pgjobs.scheduled as w
  set key = coalesce(t.key, '')
  from pgjobs.tasks as t
  join pgjobs.sharing as s on s.job_id = t.job_id
  where t.id = any (_enter_keys.task_ids) and w.task_id = t.id and w.key is null;
  for v_entered in
    with entered as (
      update pgjobs.ready as r
      set key = coalesce(t.key, ''), place = pgjobs._key_place(s.is_ordered, t.priority, r.due_at, t.id)
      from pgjobs.tasks as t
      join pgjobs.sharing as s on s.job_id = t.job_id
      where t.id = any (_enter_keys.task_ids) and r.task_id = t.id and r.is_again
      returning r.job_id, r.key
    )
    select e.job_id, array_agg(distinct e.key) as keys from entered as e group by e.job_id
  loop
    perform pgjobs._offer_keys(v_entered.job_id, v_entered.keys);
  end loop;
end
$$;

comment on function pgjobs._enter_keys is
  'Gives tasks that came back their key. Example: see pgjobs.release_tasks, which calls it';

-- Gives every task of a job its key and its place: when its policy changed, and for what
-- was under way while it did.
create function pgjobs._adopt_tasks(job_id integer, until timestamptz)
returns bigint
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_moved bigint;
begin
  update pgjobs.leases as l
  set key = coalesce(t.key, ''), is_limited = true
  from pgjobs.tasks as t
  where l.job_id = _adopt_tasks.job_id and l.key is null and t.id = l.task_id
    and l.ctid = any (array(
      select c.ctid from pgjobs.leases as c
      where c.job_id = _adopt_tasks.job_id and c.key is null
      order by c.task_id
      for update skip locked
    ));
  update pgjobs.scheduled as w
  set key = coalesce(t.key, '')
  from pgjobs.tasks as t
  where w.job_id = _adopt_tasks.job_id and w.key is null and t.id = w.task_id;
  update pgjobs.ready as r
  set key = coalesce(t.key, ''), place = pgjobs._key_place(s.is_ordered, r.priority, r.due_at, r.task_id)
  from pgjobs.tasks as t, pgjobs.sharing as s
  where r.job_id = _adopt_tasks.job_id and r.due_at <= _adopt_tasks.until and t.id = r.task_id and s.job_id = r.job_id
    and (r.key, r.place) is distinct from
      (coalesce(t.key, ''), pgjobs._key_place(s.is_ordered, r.priority, r.due_at, r.task_id));
  get diagnostics v_moved = row_count;
  return v_moved;
end
$$;

comment on function pgjobs._adopt_tasks is
  'Gives every task of a job its key and place. Example: see pgjobs.limit_job, which changes the policy';

-- Sees to keys when a lease ends, by whatever way, or a task leaves the schedule: what
-- waited for its slot or for its turn may go now.
create function pgjobs._free_key()
returns trigger
language plpgsql
as $$
begin
  if not pgjobs._rely_on_key(old.job_id, old.key) then
    insert into pgjobs.key_turns (job_id, key) values (old.job_id, old.key);
  elsif not exists (select from pgjobs.ready as r where r.job_id = old.job_id and r.key = old.key) then
    -- Whoever brings a task now brings its turn as well, and it stays until this is committed.
    return null;
  elsif not exists (select from pgjobs.key_turns as t where t.job_id = old.job_id and t.key = old.key) then
    insert into pgjobs.key_turns (job_id, key) values (old.job_id, old.key);
  end if;
  perform pgjobs._wake(old.job_id, 1);
  return null;
end
$$;

comment on function pgjobs._free_key is
  'Trigger: gives a key a turn when a lease of it ends. Example: fires on delete from pgjobs.leases';
