-- Retries or ignores many cleanups, named by their runs: one that does not allow the step
-- holds up no other. Answers per run: its status before, and the problem's SQLSTATE if it
-- was left as it is. With `dry_run` it only tells.
create function pgjobs.act_on_cleanups(
  step text, run_ids uuid[], actor text default null, reason text default null, dry_run boolean default false
)
returns table (run_id uuid, status text, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_run record;
begin
  if act_on_cleanups.step not in ('retry', 'ignore') or act_on_cleanups.run_ids is null or cardinality(act_on_cleanups.run_ids) > 1000 then
    perform pgjobs._refuse('validation-error', 'Steps are retry and ignore, for at most 1000 runs');
  end if;
  -- In order of number, as everybody takes tasks.
  for v_run in
    select i.run_id as id, c.status as was
    from unnest(act_on_cleanups.run_ids) as i (run_id)
    left join pgjobs.incomplete_cleanup_tasks as c on c.run_id = i.run_id
    order by c.task_id
  loop
    run_id := v_run.id;
    status := v_run.was;
    problem := case
      when v_run.was is null then 'PJ002'
      when v_run.was in ('running', 'done') or (v_run.was = 'ignored' and act_on_cleanups.step = 'ignore') then 'PJ006'
    end;
    if problem is null and not act_on_cleanups.dry_run then
      begin
        if act_on_cleanups.step = 'retry' then
          perform from pgjobs.retry_cleanup(v_run.id, act_on_cleanups.actor, act_on_cleanups.reason);
        else
          perform from pgjobs.ignore_cleanup(v_run.id, act_on_cleanups.actor, act_on_cleanups.reason);
        end if;
      exception when sqlstate 'PJ002' or sqlstate 'PJ006' then
        problem := sqlstate;
      end;
    end if;
    return next;
  end loop;
end
$$;

comment on function pgjobs.act_on_cleanups is
  'Retries or ignores many cleanups. Example: select * from pgjobs.act_on_cleanups(''retry'', array(select run_id from pgjobs.incomplete_cleanup_tasks where status = ''blocked''), dry_run => true)';
