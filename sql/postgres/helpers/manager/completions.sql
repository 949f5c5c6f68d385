-- Which of these jobs have ended under a token of the application. Those that are running are
-- locked first, so that of two callers the second sees what the first has said.
create function pgjobs._lock_completions(task_ids bigint[], completion_tokens text[])
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if exists (select from unnest(completion_tokens) as c (token) where c.token = '' or length(c.token) > 200) then
    perform pgjobs._refuse('validation-error', 'completion_token must have 1 to 200 characters');
  end if;
  if cardinality(task_ids) is distinct from cardinality(completion_tokens) then
    perform pgjobs._refuse('validation-error', 'completion_tokens must be one for each job');
  end if;
  perform pgjobs._lock_tasks(_lock_completions.task_ids);
  return array(
    select c.task_id from pgjobs.completion_tokens as c
    join unnest(_lock_completions.task_ids, _lock_completions.completion_tokens) as i (id, token) on i.id = c.task_id
    where i.token is not null
      and exists (select from pgjobs.outcomes as o where o.task_id = c.task_id)
  );
end
$$;

comment on function pgjobs._lock_completions is
  'Which jobs have ended under a token of the application. Example: select pgjobs._lock_completions(array[42], array[''run-1''])';

-- What is answered about a job that has ended under a token: how, or that it was another token.
create function pgjobs._answered_completion(task_id bigint, token text)
returns table (status text, problem text)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select
    case when c.token = _answered_completion.token then o.status end,
    case when c.token <> _answered_completion.token then 'PJ006' end
  from pgjobs.completion_tokens as c
  join pgjobs.outcomes as o on o.task_id = c.task_id
  where c.task_id = _answered_completion.task_id;
end
$$;

comment on function pgjobs._answered_completion is
  'What is answered about a job that has ended. Example: select * from pgjobs._answered_completion(42, ''run-1'')';
