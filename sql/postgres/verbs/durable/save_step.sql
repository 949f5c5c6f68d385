-- Keeps the result of a named step with its task, for whoever holds the task's lease. The
-- first result of a name counts: saving again answers with it and `is_new` = false.
--
-- In the transaction of the step's effect, effect and step commit together.
create function pgjobs.save_step(task_id bigint, token uuid, name text, result jsonb default 'null')
returns table (number integer, is_new boolean, kept jsonb)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_step pgjobs.steps;
begin
  perform pgjobs._hold_lease(save_step.task_id, save_step.token, v_now);
  v_step := pgjobs._find_step(save_step.task_id, save_step.name, 'step');
  is_new := v_step.number is null;
  if is_new then
    perform pgjobs._check_documents(array[save_step.result], 'step result');
    v_step := pgjobs._keep_step(save_step.task_id, save_step.name, 'step', save_step.result, true, null, v_now);
  end if;
  number := v_step.number;
  kept := v_step.result;
  return next;
end
$$;

comment on function pgjobs.save_step is
  'Keeps the result of a step. Example: select * from pgjobs.save_step(42, ''<token>''::uuid, ''charge'', ''{"id": 7}'')';
