-- Keeps log lines of running tasks, for whoever holds their leases. Of each attempt the newest
-- lines are kept, as many as `settings.max_log_lines` and `max_log_bytes` say.
--
-- A line says how many seconds ago it was written, because clocks differ, and how many lines
-- before it were left out.
create function pgjobs.append_log(task_ids bigint[], tokens uuid[], lines jsonb[])
returns table (task_id bigint, problem text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_settings pgjobs.settings;
  v_held tid[];
  v_ids bigint[];
  v_attempts integer[];
begin
  perform pgjobs._check_batch(append_log.task_ids, append_log.tokens, coalesce(cardinality(append_log.lines), -1));
  perform pgjobs._check_log_lines(append_log.lines);
  select s.* into v_settings from pgjobs.settings as s;
  v_held := pgjobs._lock_leases(append_log.task_ids, append_log.tokens, v_now);
  if least(v_settings.max_log_lines, v_settings.max_log_bytes) > 0 then
    with held as (
      select l.task_id, l.attempt, i.place, i.lines
      from unnest(append_log.tokens, append_log.lines) with ordinality as i (token, lines, place)
      join pgjobs.leases as l on l.token = i.token
      where l.ctid = any (v_held)
    ), said as (
      select
        h.task_id, h.attempt, h.place, e.place as line_place,
        v_now - make_interval(secs => coalesce((e.line ->> 'ago')::float8, 0)) as at,
        coalesce(e.line ->> 'level', 'info') as level,
        left(pgjobs._redact(left(e.line ->> 'message', 8000)), 4000) as message,
        coalesce((e.line ->> 'dropped')::integer, 0) as dropped
      from held as h, jsonb_array_elements(h.lines) with ordinality as e (line, place)
    ), numbered as (
      select
        s.*,
        sum(1 + s.dropped) over w as number,
        sum(octet_length(s.message)) over w as bytes
      from said as s
      window w as (partition by s.task_id, s.attempt order by s.place, s.line_place)
    ), kept as (
      insert into pgjobs.task_log (task_id, attempt, number, at, level, message, total_bytes)
      select
        n.task_id, n.attempt, coalesce(last.number, 0) + n.number, n.at, n.level, n.message,
        coalesce(last.total_bytes, 0) + n.bytes
      from numbered as n
      left join lateral (
        select t.number, t.total_bytes from pgjobs.task_log as t
        where t.task_id = n.task_id and t.attempt = n.attempt
        order by t.number desc
        limit 1
      ) as last on true
      where coalesce(last.number, 0) + n.number < 2147483647
      returning task_id, attempt
    )
    select array_agg(k.task_id), array_agg(k.attempt) into v_ids, v_attempts
    from (select distinct task_id, attempt from kept) as k;
    perform pgjobs._trim_log(v_ids, v_attempts, v_settings.max_log_lines, v_settings.max_log_bytes);
  end if;
  return query
  select
    i.task_id,
    case when l.task_id is null then pgjobs._lost_or_unknown(i.task_id) end
  from unnest(append_log.task_ids, append_log.tokens) as i (task_id, token)
  left join pgjobs.leases as l
    on l.task_id = i.task_id and l.token = i.token and (l.until is null or l.until > v_now);
end
$$;

comment on function pgjobs.append_log is
  'Keeps log lines of running tasks. Example: select * from pgjobs.append_log(array[42], array[''<token>''::uuid], array[''[{"level": "info", "message": "half done"}]''::jsonb])';
