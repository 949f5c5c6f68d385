-- How a job shares what it may run: its limits by key, rates, order and weights; no row for
-- one that does not share.
create function pgjobs.get_sharing(job text)
returns table (
  job_id integer,
  full_name text,
  max_running integer,
  max_running_per_key integer,
  rate text,
  rate_per_key text,
  fair boolean,
  ordered boolean,
  on_failure text,
  weights jsonb,
  since timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs._find_job(get_sharing.job);
begin
  return query
  select
    v_job.id, v_job.full_name, v_job.max_running, s.max_running_per_key, pgjobs._written_rate(s.rate, s.rate_window),
    pgjobs._written_rate(s.rate_per_key, s.rate_per_key_window), s.is_fair, s.is_ordered, s.on_failure,
    -- The keys of a shared job are everybody's.
    case
      when pgjobs._is_closed(v_job.room) then '{}'
      else coalesce((select jsonb_object_agg(w.key, w.weight) from pgjobs.key_weights as w where w.job_id = v_job.id), '{}')
    end,
    s.since
  from pgjobs.sharing as s
  where s.job_id = v_job.id;
end
$$;

comment on function pgjobs.get_sharing is
  'How a job shares what it may run. Example: select * from pgjobs.get_sharing(''@global:modifiers:Rotate'')';
