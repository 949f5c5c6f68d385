-- Refuses what is not a list of log lines.
create function pgjobs._check_log_lines(lines jsonb[])
returns void
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_bad jsonb;
begin
  perform pgjobs._check_documents(_check_log_lines.lines, 'log lines');
  select to_jsonb(l.list) into v_bad
  from unnest(_check_log_lines.lines) as l (list)
  where jsonb_typeof(l.list) is distinct from 'array' or jsonb_array_length(l.list) > 1000
  limit 1;
  if found then
    perform pgjobs._refuse('validation-error', 'The log lines of a task are a JSON array of at most 1000 objects',
      format('Got %s.', coalesce(left(v_bad::text, 100), 'null')));
  end if;
  select e.line into v_bad
  from unnest(_check_log_lines.lines) as l (list), jsonb_array_elements(l.list) as e (line)
  where jsonb_typeof(e.line) <> 'object'
    or jsonb_typeof(e.line -> 'message') is distinct from 'string'
    or coalesce(e.line ->> 'level', 'info') not in ('debug', 'info', 'warning', 'error', 'critical')
    or jsonb_typeof(coalesce(e.line -> 'ago', '0')) <> 'number'
    or jsonb_typeof(coalesce(e.line -> 'dropped', '0')) <> 'number'
    or case when jsonb_typeof(e.line -> 'ago') = 'number' then (e.line ->> 'ago')::numeric not between 0 and 86400 else false end
    or case
      when jsonb_typeof(e.line -> 'dropped') = 'number'
        then (e.line ->> 'dropped')::numeric not between 0 and 1000000 or (e.line ->> 'dropped')::numeric % 1 <> 0
      else false
    end
  limit 1;
  if found then
    perform pgjobs._refuse('validation-error', 'A log line is an object with a message',
      format('Got %s.', left(v_bad::text, 200)),
      'level is debug, info, warning, error or critical; ago is 0 to 86400 seconds; dropped is a number of lines, up to 1000000.');
  end if;
end
$$;

comment on function pgjobs._check_log_lines is
  'Refuses what is not log lines. Example: select pgjobs._check_log_lines(array[''[{"message": "begun"}]''::jsonb])';

-- Keeps the newest lines of attempts and forgets what is beyond the bounds.
create function pgjobs._trim_log(task_ids bigint[], attempts integer[], max_lines integer, max_bytes integer)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  delete from pgjobs.task_log as t
  using unnest(_trim_log.task_ids, _trim_log.attempts) as h (task_id, attempt)
  cross join lateral (
    select n.number, n.total_bytes from pgjobs.task_log as n
    where n.task_id = h.task_id and n.attempt = h.attempt
    order by n.number desc
    limit 1
  ) as newest
  where t.task_id = h.task_id and t.attempt = h.attempt
    and (t.number <= newest.number - _trim_log.max_lines 
      or newest.total_bytes - t.total_bytes + octet_length(t.message) > _trim_log.max_bytes)
    and (t.number < newest.number or _trim_log.max_lines = 0 or _trim_log.max_bytes = 0);
end
$$;

comment on function pgjobs._trim_log is
  'Forgets old log lines of attempts. Example: select pgjobs._trim_log(array[42], array[1], 1000, 262144)';
