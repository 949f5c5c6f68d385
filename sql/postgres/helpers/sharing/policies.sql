-- Refuses keys that cannot be: one for each payload, or none.
create function pgjobs._check_keys(keys text[], quantity integer, items integer[] default null)
returns void
language plpgsql immutable
as $$
begin
  if cardinality(keys) <> quantity
    or exists (select from unnest(keys) as k (key) where k.key = '' or length(k.key) > 200)
  then
    perform pgjobs._refuse('validation-error', 'keys must be one for each payload, of 1 to 200 characters');
  end if;
  if cardinality(items) <> quantity then
    perform pgjobs._refuse('validation-error', 'items must be one for each payload');
  end if;
end
$$;

comment on function pgjobs._check_keys is
  'Refuses keys that cannot be. Example: select pgjobs._check_keys(array[''acme''], 1)';

-- What a job says about sharing, with what it said before: an option that is left out stays
-- as it is. A limit of 0 and a rate of none are lifted.
create function pgjobs._changed_sharing(
  before pgjobs.sharing, max_running_per_key integer, rate text, rate_per_key text, fair boolean, ordered boolean,
  on_failure text
)
returns pgjobs.sharing
language plpgsql immutable
as $$
declare
  v_after pgjobs.sharing := before;
begin
  if max_running_per_key not between 0 and 1000000 then
    perform pgjobs._refuse('validation-error', 'max_running_per_key must be between 1 and 1000000',
      format('Got %s.', max_running_per_key), 'With 0 there is no limit.');
  end if;
  if on_failure not in ('wait', 'skip') then
    perform pgjobs._refuse('validation-error', 'on_failure must be wait or skip', format('Got %s.', on_failure));
  end if;
  v_after.max_running_per_key := nullif(coalesce(max_running_per_key, before.max_running_per_key), 0);
  v_after.is_fair := coalesce(fair, before.is_fair, false);
  v_after.is_ordered := coalesce(ordered, before.is_ordered, false);
  v_after.on_failure := coalesce(on_failure, before.on_failure, 'wait');
  if rate is not null then
    select r.quantity, r.per into v_after.rate, v_after.rate_window
    from pgjobs._parsed_rate(nullif(_changed_sharing.rate, 'none')) as r;
  end if;
  if rate_per_key is not null then
    select r.quantity, r.per into v_after.rate_per_key, v_after.rate_per_key_window
    from pgjobs._parsed_rate(nullif(_changed_sharing.rate_per_key, 'none')) as r;
  end if;
  return v_after;
end
$$;

comment on function pgjobs._changed_sharing is
  'What a job says about sharing after a change. Example: see pgjobs.limit_job, which makes it';

-- Has a job share in another way from now on; answers whether anything changed.
create function pgjobs._share_job(
  job_id integer, max_running_per_key integer, rate text, rate_per_key text, fair boolean, ordered boolean,
  on_failure text
)
returns boolean
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_before pgjobs.sharing;
  v_after pgjobs.sharing;
begin
  if num_nonnulls(max_running_per_key, rate, rate_per_key, fair, ordered, on_failure) = 0 then
    return false;
  end if;
  perform from pgjobs.jobs as j where j.id = _share_job.job_id for no key update;
  select s.* into v_before from pgjobs.sharing as s where s.job_id = _share_job.job_id;
  v_after := pgjobs._changed_sharing(v_before, max_running_per_key, rate, rate_per_key, fair, ordered, on_failure);
  if v_after is not distinct from v_before then
    return false;
  end if;
  v_after.job_id := _share_job.job_id;
  v_after.since := v_now;
  delete from pgjobs.sharing as s where s.job_id = _share_job.job_id;
  if num_nonnulls(v_after.max_running_per_key, v_after.rate, v_after.rate_per_key) > 0
    or v_after.is_fair or v_after.is_ordered
  then
    insert into pgjobs.sharing select v_after.*;
    update pgjobs.jobs as j set is_shared = true where j.id = _share_job.job_id and not j.is_shared;
    perform pgjobs._adopt_tasks(_share_job.job_id, 'infinity');
    delete from pgjobs.key_rests as r where r.job_id = _share_job.job_id;
    perform pgjobs._offer_all_keys(_share_job.job_id);
  else
    update pgjobs.jobs as j set is_shared = false where j.id = _share_job.job_id and j.is_shared;
    delete from pgjobs.key_rests as r where r.job_id = _share_job.job_id;
    -- Under their old floors claims would not see what entered meanwhile.
    perform pgjobs._floors_are_wrong();
  end if;
  return true;
end
$$;

comment on function pgjobs._share_job is
  'Has a job share in another way. Example: see pgjobs.limit_job, which calls it';

-- Sets how many tasks keys have in a turn; 1 is what they have anyway.
create function pgjobs._weigh_keys(job_id integer, weights jsonb)
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  if weights is null then
    return;
  end if;
  if jsonb_typeof(weights) <> 'object' or exists (
    select from jsonb_each(weights) as w
    where w.key = '' or length(w.key) > 200 or jsonb_typeof(w.value) <> 'number'
      or (w.value::text)::numeric not between 1 and 1000 or (w.value::text)::numeric % 1 <> 0
  ) then
    perform pgjobs._refuse('validation-error', 'weights must be whole numbers from 1 to 1000, by key', null,
      'For example {"acme": 3}.');
  end if;
  delete from pgjobs.key_weights as k where k.job_id = _weigh_keys.job_id and weights ? k.key;
  insert into pgjobs.key_weights (job_id, key, weight)
  select _weigh_keys.job_id, w.key, (w.value::text)::numeric::integer
  from jsonb_each(weights) as w
  where (w.value::text)::numeric > 1;
end
$$;

comment on function pgjobs._weigh_keys is
  'Sets how many tasks keys have in a turn. Example: see pgjobs.limit_job, which calls it';

-- Brings in tasks of jobs that came to share while their submits were under way, or whose
-- leases began meanwhile, and keys without a turn, should there be any.
create function pgjobs._sweep_sharing(now timestamptz, batch integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_job record;
begin
  for v_job in
    select s.job_id, s.since from pgjobs.sharing as s where s.since > _sweep_sharing.now - interval '1 day'
  loop
    -- Keys too that were found full under the policy before, while it was replaced.
    if pgjobs._adopt_tasks(v_job.job_id, v_job.since + interval '1 minute') > 0
      or v_job.since > _sweep_sharing.now - interval '5 minutes'
    then
      perform pgjobs._offer_all_keys(v_job.job_id);
    end if;
  end loop;
  return pgjobs._sweep_unique(_sweep_sharing.now, batch) + pgjobs._sweep_rate_notes(batch)
    + pgjobs._sweep_quotas(_sweep_sharing.now, batch);
end
$$;

comment on function pgjobs._sweep_sharing is
  'Upkeep of jobs that share by key. Example: select pgjobs._sweep_sharing(pgjobs._now(), 1000)';

-- Forgets what a job that is deleted had of keys.
create function pgjobs._forget_keys(job_id integer)
returns void
language plpgsql volatile
as $$
begin
  delete from pgjobs.key_turns as t where t.job_id = _forget_keys.job_id;
  delete from pgjobs.key_rests as r where r.job_id = _forget_keys.job_id;
  delete from pgjobs.rate_notes as n where n.job_id = _forget_keys.job_id;
  delete from pgjobs.unique_tasks as u where u.job_id = _forget_keys.job_id;
end
$$;

comment on function pgjobs._forget_keys is
  'Forgets what a job had of keys. Example: see pgjobs.delete_job, which removes the job';

-- When keys or jobs that wait for their rate may claim again, the first of them.
create function pgjobs._next_resume(job_ids integer[])
returns timestamptz
language plpgsql volatile
as $$
declare
  v_soonest timestamptz := (select min(r.resumes_at) from pgjobs.key_rests as r where r.job_id = any (_next_resume.job_ids));
begin
  return least(v_soonest, (
    select min(pgjobs._rate_resumes_at(s.job_id, true, '', s.rate, s.rate_window))
    from pgjobs.sharing as s
    where s.job_id = any (_next_resume.job_ids) and s.rate is not null
      and pgjobs._rate_room(s.job_id, true, '', s.rate, s.rate_window) = 0
      and exists (select from pgjobs.ready as r where r.job_id = s.job_id)
  ));
end
$$;

comment on function pgjobs._next_resume is
  'When a job or key that waits for its rate may claim again. Example: select pgjobs._next_resume(array[1])';
