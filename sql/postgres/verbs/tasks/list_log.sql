-- The log lines of a task, in order. `after` is the `position` of the last line seen, for what
-- came since; without it, `newest` asks for the last lines instead of the first.
create function pgjobs.list_log(
  task_id bigint, of_attempt integer default null, after bigint default 0, newest boolean default false,
  page_size integer default 500
)
returns table (
  "position" bigint, attempt integer, number integer, at timestamptz, level text, message text
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_after_attempt integer := (least(greatest(coalesce(list_log.after, 0), 0), 9223372036854775807) >> 32)::integer;
  v_after_number bigint := greatest(coalesce(list_log.after, 0), 0) & 4294967295;
begin
  perform pgjobs._check_page(list_log.page_size, 0);
  if not exists (
    select from pgjobs.tasks as t where t.id = list_log.task_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', list_log.task_id));
  end if;
  if list_log.newest then
    return query
    select n.* from (
      select (l.attempt::bigint << 32) | l.number, l.attempt, l.number, l.at, l.level, l.message
      from pgjobs.task_log as l
      where l.task_id = list_log.task_id and (list_log.of_attempt is null or l.attempt = list_log.of_attempt)
        and (l.attempt, l.number::bigint) > (v_after_attempt, v_after_number)
      order by l.attempt desc, l.number desc
      limit list_log.page_size
    ) as n (place, attempt, number, at, level, message)
    order by n.place;
    return;
  end if;
  return query
  select (l.attempt::bigint << 32) | l.number, l.attempt, l.number, l.at, l.level, l.message
  from pgjobs.task_log as l
  where l.task_id = list_log.task_id and (list_log.of_attempt is null or l.attempt = list_log.of_attempt)
    and (l.attempt, l.number::bigint) > (v_after_attempt, v_after_number)
  order by l.attempt, l.number
  limit list_log.page_size;
end
$$;

comment on function pgjobs.list_log is
  'The log lines of a task. Example: select number, at, level, message from pgjobs.list_log(42)';
