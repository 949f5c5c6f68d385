-- Completes jobs, each under a token of the application's, or none. One that has ended under the
-- same token gets the same answer again, whoever asks and however its lease ended; under another
-- token it is refused (PJ006). `is_repeated` tells which were ended before.
create function pgjobs.complete_generic_jobs(
  task_ids bigint[], tokens uuid[], results jsonb[], worker_id text, completion_tokens text[]
)
returns table (task_id bigint, status text, problem text, is_repeated boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_known bigint[] := pgjobs._lock_completions(task_ids, completion_tokens);
begin
  return query
  with ended as materialized (
    select c.* from pgjobs.complete_tasks(
      array(select i.id from unnest(complete_generic_jobs.task_ids) with ordinality as i (id, place) where i.id <> all (v_known) order by i.place),
      array(
        select k.token
        from unnest(complete_generic_jobs.task_ids, complete_generic_jobs.tokens) with ordinality as k (id, token, place)
        where k.id <> all (v_known)
        order by k.place
      ),
      array(
        select r.result
        from unnest(complete_generic_jobs.task_ids, coalesce(complete_generic_jobs.results, array_fill(null::jsonb, array[cardinality(task_ids)])))
          with ordinality as r (id, result, place)
        where r.id <> all (v_known)
        order by r.place
      ),
      complete_generic_jobs.worker_id
    ) as c
  ), kept as (
    insert into pgjobs.completion_tokens (task_id, token)
    select distinct on (e.task_id) e.task_id, i.token
    from ended as e
    join unnest(complete_generic_jobs.task_ids, complete_generic_jobs.completion_tokens) as i (id, token) on i.id = e.task_id
    where e.problem is null and i.token is not null
    on conflict do nothing
  )
  select i.id, coalesce(e.status, a.status), coalesce(e.problem, a.problem), e.task_id is null
  from unnest(complete_generic_jobs.task_ids, complete_generic_jobs.completion_tokens) with ordinality as i (id, token, place)
  left join ended as e on e.task_id = i.id
  left join lateral pgjobs._answered_completion(i.id, i.token) as a on e.task_id is null
  order by i.place;
end
$$;

comment on function pgjobs.complete_generic_jobs is
  'Completes jobs under tokens of the application. Example: select * from pgjobs.complete_generic_jobs(array[42], array[''<token>''::uuid], null, ''me'', array[''run-1''])';
