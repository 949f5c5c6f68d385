-- The numbers of every job, as pgjobs.metrics() gives them.
--
-- Counts what ended since the last sweep first, up to a bound, so that two
-- readers agree. A standby shows what sweeps have counted.
create function pgjobs.list_metrics()
returns table (
  domain text,
  queue text,
  job_type text,
  measure text,
  up_to double precision,
  quantity bigint,
  seconds double precision
)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if not pg_is_in_recovery() then
    perform pgjobs._sweep_rollups(pgjobs._now(), 2000);
  end if;
  return query select m.* from pgjobs.metrics() as m;
end
$$;

comment on function pgjobs.list_metrics is
  'The numbers of every job. Example: select domain, queue, job_type, quantity from pgjobs.list_metrics() where measure = ''backlog''';
