-- Up to which task this session has pruned lately, null after an hour: what was
-- removed leaves dead entries behind, and looking through them again for every
-- batch makes each dearer than the one before (measured: 0.1 s became 1.1 s after
-- forty batches of a thousand).
create function pgjobs.pruned_upto(key text, now timestamptz)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_known text[] := string_to_array(nullif(current_setting(key, true), ''), '/');
begin
  return case
    when extract(epoch from now) - v_known[2]::double precision between 0 and 3600 then v_known[1]::bigint
  end;
end
$$;

comment on function pgjobs.pruned_upto is
  'Up to which task this session has pruned. Example: select pgjobs.pruned_upto(''pgjobs.pruned_x'', pgjobs.now())';

-- About the last task submitted before a moment. Numbers and times of submission
-- grow together, so it is searched for by halves: twenty probes among a million.
create function pgjobs.last_task_before(moment timestamptz)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_low bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id limit 1), 0) - 1;
  v_high bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id desc limit 1), 0);
  v_middle bigint;
begin
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low + 1) / 2;
    if (select t.created_at from pgjobs.tasks as t where t.id >= v_middle order by t.id limit 1) < moment then
      v_low := v_middle;
    else
      v_high := v_middle - 1;
    end if;
  end loop;
  return v_low;
end
$$;

comment on function pgjobs.last_task_before is
  'About the last task submitted before a moment. Example: select pgjobs.last_task_before(pgjobs.now() - interval ''30 days'')';
