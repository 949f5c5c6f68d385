-- What a suspended or blocked task waits for, in words, and what would change that.
create function pgjobs._wait_in_words(task_id bigint, now timestamptz, out answer text, out advice text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_wait pgjobs.scheduled := (select s from pgjobs.scheduled as s where s.task_id = _wait_in_words.task_id);
  v_parents record;
begin
  -- Also where it waits for no task: a record that was never assigned cannot be read at all.
  select
    count(*) as all_of_them, count(*) filter (where d.is_unfinished) as quantity,
    array_to_string((array_agg(d.name order by d.place) filter (where d.is_unfinished))[1:5], ', ') as names
  into v_parents
  from (
    select e.place, pgjobs._is_unfinished(e.after_id) as is_unfinished,
      case e.kind when 'parent' then e.name else e.after_id::text end as name
    from pgjobs.dependencies as e
    where v_wait.waits_for in ('parents', 'calls') and e.task_id = _wait_in_words.task_id
      and e.kind = case v_wait.waits_for when 'calls' then 'call' else 'parent' end
  ) as d;
  answer := case v_wait.waits_for
    when 'time' then format('It sleeps until %s, for another %s.', date_trunc('second', v_wait.run_at), pgjobs._ago(v_wait.run_at, now))
    when 'signal' then format('It waits for the signal %s%s.', v_wait.signal,
      case when v_wait.run_at < pgjobs._never() then ', for another ' || pgjobs._ago(v_wait.run_at, now) else '' end)
    when 'held' then format('It is held, because its parent %s did not complete.', v_wait.blocked_by)
    else format('It waits for %s of %s %s: %s%s.', v_parents.quantity, v_parents.all_of_them,
      case v_wait.waits_for when 'calls' then 'called tasks' else 'parents' end, v_parents.names,
      case when v_parents.quantity > 5 then ', …' else '' end)
  end;
  advice := case v_wait.waits_for
    when 'signal' then format('select * from pgjobs.send_signal(%s, %L)', task_id, v_wait.signal)
    when 'held' then format('select * from pgjobs.retry_task(%s)', v_wait.blocked_by)
    when 'time' then null
    else format('select checked, is_ok, answer from pgjobs.why(%s)', v_wait.blocked_by)
  end;
end
$$;

comment on function pgjobs._wait_in_words is
  'What a task waits for. Example: select * from pgjobs._wait_in_words(42, pgjobs._now())';
