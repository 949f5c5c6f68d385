-- All quotas, in the order in which they decide; an empty room stands for every one, an empty owner for each.
create function pgjobs.list_quotas()
returns setof pgjobs.quotas
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select q.*
  from pgjobs.quotas as q
  where num_nonnulls(q.max_waiting, q.per_minute, q.max_running) > 0
  order by q.owner = '', q.room = '', q.owner, q.room;
end
$$;

comment on function pgjobs.list_quotas is 'All quotas. Example: select * from pgjobs.list_quotas()';
