-- How many more claims a window has room for. Notes carry running totals, so that two of
-- them, the last and the one before the window, tell how many are between; nobody updates
-- a counter. To be believed under the lock of whoever is counted, as slots are.
create function pgjobs._rate_room(job_id integer, of_job boolean, key text, rate integer, rate_window interval)
returns integer
language plpgsql volatile
as $$
declare
  v_last record;
  v_before bigint;
begin
  select n.at, n.total into v_last
  from pgjobs.rate_notes as n
  where n.job_id = _rate_room.job_id and n.of_job = _rate_room.of_job and n.key = _rate_room.key
  order by n.at desc, n.total desc
  limit 1;
  if v_last.total is null then
    return rate;
  end if;
  select n.total into v_before
  from pgjobs.rate_notes as n
  where n.job_id = _rate_room.job_id and n.of_job = _rate_room.of_job and n.key = _rate_room.key
    and n.at <= greatest(pgjobs._now(), v_last.at) - _rate_room.rate_window
  order by n.at desc, n.total desc
  limit 1;
  return greatest(rate - (v_last.total - coalesce(v_before, 0)), 0);
end
$$;

comment on function pgjobs._rate_room is
  'How many more claims a window has room for. Example: select pgjobs._rate_room(1, true, '''', 100, ''1 minute'')';

-- Notes claims, after whatever was noted before.
create function pgjobs._note_rate(job_id integer, of_job boolean, key text, quantity integer)
returns void
language plpgsql volatile
as $$
begin
  insert into pgjobs.rate_notes (job_id, of_job, key, at, total)
  select
    _note_rate.job_id, _note_rate.of_job, _note_rate.key, greatest(pgjobs._now(), l.at),
    coalesce(l.total, 0) + _note_rate.quantity
  from (select) as one
  left join lateral (
    select n.at, n.total
    from pgjobs.rate_notes as n
    where n.job_id = _note_rate.job_id and n.of_job = _note_rate.of_job and n.key = _note_rate.key
    order by n.at desc, n.total desc
    limit 1
  ) as l on true;
end
$$;

comment on function pgjobs._note_rate is
  'Notes claims for a rate. Example: see pgjobs.claim_tasks, which counts what it hands out';

-- When a window that is full has room again: when enough of the oldest claims have left it.
create function pgjobs._rate_resumes_at(job_id integer, of_job boolean, key text, rate integer, rate_window interval)
returns timestamptz
language plpgsql volatile
as $$
declare
  v_total bigint := (
    select n.total from pgjobs.rate_notes as n
    where n.job_id = _rate_resumes_at.job_id and n.of_job = _rate_resumes_at.of_job and n.key = _rate_resumes_at.key
    order by n.at desc, n.total desc
    limit 1
  );
begin
  return rate_window + (
    select n.at from pgjobs.rate_notes as n
    where n.job_id = _rate_resumes_at.job_id and n.of_job = _rate_resumes_at.of_job and n.key = _rate_resumes_at.key
      and n.at > pgjobs._now() - _rate_resumes_at.rate_window and n.total > v_total - _rate_resumes_at.rate
    order by n.at, n.total
    limit 1
  );
end
$$;

comment on function pgjobs._rate_resumes_at is
  'When a full window has room again. Example: select pgjobs._rate_resumes_at(1, true, '''', 100, ''1 minute'')';

-- How many claims in how long: '100/min', '10/s', '5 / 10 min'.
create function pgjobs._parsed_rate(rate text, out quantity integer, out per interval)
language plpgsql immutable
as $$
declare
  v_parts text[] := regexp_match(
    lower(rate), '^\s*([0-9]{1,7})\s*/\s*([0-9]{1,5})?\s*(s|sec|second|m|min|minute|h|hour|d|day)s?\s*$'
  );
begin
  if rate is null then
    return;
  end if;
  quantity := v_parts[1]::integer;
  per := coalesce(v_parts[2], '1')::integer * case left(v_parts[3], 1)
    when 's' then interval '1 second'
    when 'm' then interval '1 minute'
    when 'h' then interval '1 hour'
    else interval '1 day'
  end;
  if quantity is null or quantity not between 1 and 1000000 or per not between interval '1 second' and interval '366 days' then
    perform pgjobs._refuse('validation-error', 'A rate is a number and a time, such as 100/min', format('Got %s.', rate),
      'Times are s, min, h and day, with a number before: 5/10min.');
  end if;
end
$$;

comment on function pgjobs._parsed_rate is
  'How many claims in how long. Example: select * from pgjobs._parsed_rate(''100/min'')';

-- Forgets notes that no window reaches back to. The last one before the window says where
-- the window begins, so it stays while there are others; when it is the only one, it goes
-- while nobody claims: then counting begins anew.
create function pgjobs._sweep_rate_notes(batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_removed integer;
  v_last record;
begin
  with old as (
    select n.ctid
    from pgjobs.rate_notes as n
    cross join lateral pgjobs._window_begins(n.job_id, n.of_job) as w (at)
    where n.at < w.at
      and exists (
        select from pgjobs.rate_notes as m
        where m.job_id = n.job_id and m.of_job = n.of_job and m.key = n.key
          and (m.at, m.total) > (n.at, n.total) and m.at < w.at
      )
    limit _sweep_rate_notes.batch
  )
  delete from pgjobs.rate_notes as n where n.ctid = any (array(select o.ctid from old as o));
  get diagnostics v_removed = row_count;
  for v_last in
    select n.job_id, n.key
    from pgjobs.rate_notes as n
    cross join lateral pgjobs._window_begins(n.job_id, false) as w (at)
    where not n.of_job and n.at < w.at - interval '1 minute'
    limit pgjobs._most_keys()
  loop
    if pg_try_advisory_xact_lock(pgjobs._key_lock(v_last.job_id, v_last.key)) then
      delete from pgjobs.rate_notes as n
      where n.job_id = v_last.job_id and not n.of_job and n.key = v_last.key
        and not exists (
          select from pgjobs.rate_notes as m
          where m.job_id = n.job_id and not m.of_job and m.key = n.key and (m.at, m.total) > (n.at, n.total)
        )
        and n.at < pgjobs._window_begins(n.job_id, false);
    end if;
  end loop;
  return v_removed;
end
$$;

comment on function pgjobs._sweep_rate_notes is
  'Forgets claims that no window reaches back to. Example: select pgjobs._sweep_rate_notes(1000)';

-- Since when claims count for a rate; all of them are over where there is none any more.
create function pgjobs._window_begins(job_id integer, of_job boolean)
returns timestamptz
language plpgsql stable
as $$
begin
  return pgjobs._now() - coalesce((
    select case when of_job then s.rate_window else s.rate_per_key_window end
    from pgjobs.sharing as s where s.job_id = _window_begins.job_id
  ), interval '0');
end
$$;

comment on function pgjobs._window_begins is
  'Since when claims count for a rate. Example: select pgjobs._window_begins(1, true)';
