-- Where a page of a list ended: what the next page is asked for with. Pass the numbers of its
-- tasks or workflows, and the cursor the page itself was asked for with.
--
-- A text to be handed back as it is. It holds the last number that each node of a cluster
-- gave: on one queue that is one number.
create function pgjobs.next_cursor(task_ids bigint[], cursor text default null)
returns table (next text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query
  select string_agg(to_hex(p.number), '-' order by p.number)
  from (
    select min(n.number) as number
    from (
      select i.number from unnest(next_cursor.task_ids) as i (number)
      union all
      select c.number from pgjobs._places_of_cursor(next_cursor.cursor) as c (number)
    ) as n
    group by pgjobs._node_of(n.number)
  ) as p;
end
$$;

comment on function pgjobs.next_cursor is
  'Where a page of a list ended. Example: select next from pgjobs.next_cursor(array(select id from pgjobs.list_tasks(page_size => 20)))';
