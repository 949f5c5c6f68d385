-- An error without what differs each time: ids, numbers, quoted words.
create function pgjobs._error_pattern(message text)
returns text
language sql immutable
return left(btrim(regexp_replace(regexp_replace(regexp_replace(
  split_part(message, E'\n', 1),
  '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}', '*', 'g'),
  '''[^'']*''|"[^"]*"', '*', 'g'),
  '0x[0-9a-fA-F]+|[0-9]+([.,:][0-9]+)*', '#', 'g')), 200);

comment on function pgjobs._error_pattern is
  'An error without ids, numbers and quoted words. Example: select pgjobs._error_pattern(''timeout after 30 s on "db7"'')';

create function pgjobs._error_fingerprint(error_kind text, message text)
returns text
language sql immutable
return left(md5(coalesce(error_kind, '') || ':' || pgjobs._error_pattern(message)), 12);

comment on function pgjobs._error_fingerprint is
  'What errors of one sort have in common. Example: select pgjobs._error_fingerprint(''timeout'', ''timeout after 30 s'')';

-- Failed attempts that no count holds yet, up to `quantity` events.
create function pgjobs._uncounted_errors(quantity integer)
returns table (
  xid xid8, id bigint, at timestamptz, is_error boolean, job_id integer, task_id bigint, error_kind text, message text
)
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_cursor pgjobs.error_cursor;
begin
  select c.* into v_cursor from pgjobs.error_cursor as c;
  return query
  select
    e.xid, e.id, e.at, e.kind in ('failed', 'retrying'), e.job_id, e.task_id,
    coalesce(e.fields ->> 'error_kind', o.error_kind), coalesce(e.message, 'unknown error')
  from pgjobs._events_between(
    v_cursor.since, coalesce(v_cursor.upto, pgjobs._feed_snapshot()), v_cursor.after_xid, v_cursor.after_id,
    null, null, null, _uncounted_errors.quantity
  ) as e
  left join pgjobs.outcomes as o on e.kind = 'failed' and o.task_id = e.task_id;
end
$$;

comment on function pgjobs._uncounted_errors is
  'Failed attempts that are not counted yet. Example: select * from pgjobs._uncounted_errors(1000) where is_error';

-- Counts failed attempts by fingerprint, a bounded number of events, and forgets
-- what is older than a week. One at a time: whoever comes second has nothing to do.
create function pgjobs._sweep_errors(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_upto pg_snapshot := pgjobs._feed_snapshot();
  v_read record;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('pgjobs.errors', 0)) then
    return 0;
  end if;
  -- A dump restored into another cluster has seen other transactions.
  update pgjobs.error_cursor as c
  set since = v_upto, upto = null, after_xid = '0', after_id = 0
  where pg_snapshot_xmax(c.since) > pg_snapshot_xmax(v_upto);
  update pgjobs.error_cursor as c set upto = v_upto where c.upto is null;
  with seen as materialized (
    select u.* from pgjobs._uncounted_errors(_sweep_errors.batch) as u
  ), counted as (
    insert into pgjobs.error_counts as c (since, job_id, fingerprint, quantity, error_kind, message, last_at, last_task_id)
    select
      date_bin('5 minutes', pgjobs._known_moment(s.at), 'epoch'), s.job_id, pgjobs._error_fingerprint(s.error_kind, s.message), count(*),
      min(s.error_kind), left(split_part((array_agg(s.message order by s.at desc))[1], E'\n', 1), 200), max(s.at),
      (array_agg(s.task_id order by s.at desc))[1]
    from seen as s
    where s.is_error
    group by 1, 2, 3
    on conflict (since, job_id, fingerprint) do update
    set
      quantity = c.quantity + excluded.quantity,
      message = excluded.message,
      last_at = greatest(c.last_at, excluded.last_at),
      last_task_id = excluded.last_task_id
  )
  select
    count(*) as quantity, count(*) filter (where s.is_error) as errors,
    (array_agg(s.xid order by s.xid desc))[1] as xid, (array_agg(s.id order by s.xid desc, s.id desc))[1] as id
  into v_read
  from seen as s;
  if v_read.quantity < _sweep_errors.batch then
    update pgjobs.error_cursor as c set since = c.upto, upto = null, after_xid = '0', after_id = 0;
  else
    update pgjobs.error_cursor as c set after_xid = v_read.xid, after_id = v_read.id;
  end if;
  delete from pgjobs.error_counts as c where c.since < _sweep_errors.now - interval '7 days';
  return v_read.errors;
end
$$;

comment on function pgjobs._sweep_errors is
  'Counts failed attempts by fingerprint. Example: select pgjobs._sweep_errors(pgjobs._now(), 10000)';
