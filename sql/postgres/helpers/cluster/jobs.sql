-- For a coordinator: what this node knows of jobs, for a node that joins or was away. Jobs of
-- the server itself are every node's own.
create function pgjobs._tell_jobs()
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return jsonb_build_object(
    'jobs', (select coalesce(jsonb_agg(to_jsonb(j) - 'full_name'), '[]') from pgjobs.jobs as j where j.room <> '@internal'),
    'policies', (
      select coalesce(jsonb_agg(to_jsonb(p)), '[]') from pgjobs.error_policies as p
      join pgjobs.jobs as j on j.id = p.job_id where j.room <> '@internal'
    ),
    'sharing', (
      select coalesce(jsonb_agg(to_jsonb(s)), '[]') from pgjobs.sharing as s
      join pgjobs.jobs as j on j.id = s.job_id where j.room <> '@internal'
    ),
    'weights', (
      select coalesce(jsonb_agg(to_jsonb(w)), '[]') from pgjobs.key_weights as w
      join pgjobs.jobs as j on j.id = w.job_id where j.room <> '@internal'
    ),
    'grants', (select coalesce(jsonb_agg(to_jsonb(g)), '[]') from pgjobs.room_grants as g),
    'quotas', (select coalesce(jsonb_agg(to_jsonb(q)), '[]') from pgjobs.quotas as q),
    'controls', (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from pgjobs.queue_controls as c)
  );
end
$$;

comment on function pgjobs._tell_jobs is 'What this node knows of jobs. Example: select pgjobs._tell_jobs()';

-- Takes over what another node told of its jobs, number by number. A job that has another number here
-- breaks a constraint, and nothing is taken.
create function pgjobs._take_over_jobs(told jsonb)
returns void
language plpgsql volatile
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_part record;
  v_columns text[];
  v_changed text[];
begin
  for v_part in
    select p.name, p.relation, p.identity
    from (values
      ('jobs', 'jobs', array['id']), ('policies', 'error_policies', '{job_id,kind}'), ('sharing', 'sharing', '{job_id}'),
      ('weights', 'key_weights', '{job_id,key}'), ('grants', 'room_grants', '{role,room}'),
      ('quotas', 'quotas', '{room,owner}'), ('controls', 'queue_controls', '{room,category}')
    ) as p (name, relation, identity)
  loop
    v_columns := array(
      select quote_ident(a.attname)
      from pg_attribute as a
      where a.attrelid = to_regclass('pgjobs.' || v_part.relation)
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      order by a.attnum
    );
    v_changed := array_remove(v_columns, 'id');
    execute format(
      'insert into pgjobs.%I (%s) overriding system value'
      ' select %s from jsonb_populate_recordset(null::pgjobs.%I, $1) on conflict (%s) do update set (%s) = row (excluded.%s)',
      v_part.relation, array_to_string(v_columns, ', '), array_to_string(v_columns, ', '), v_part.relation,
      array_to_string(v_part.identity, ', '), array_to_string(v_changed, ', '), array_to_string(v_changed, ', excluded.')
    ) using _take_over_jobs.told -> v_part.name;
  end loop;
  insert into pgjobs.lanes (job_id, priority)
  select j.id, 5 from pgjobs.jobs as j
  where not exists (select from pgjobs.lanes as l where l.job_id = j.id and l.priority = 5);
  perform pgjobs._count_unlimited();
end
$$;

comment on function pgjobs._take_over_jobs is
  'Takes over the jobs of another node. Example: select pgjobs._take_over_jobs(''{"jobs": []}'')';
