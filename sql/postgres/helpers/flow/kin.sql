-- Tasks that another one has to do with, as its page shows them: `items`, the first hundred,
-- and the `total`. `before` says which way the edge goes: they come before it, or after.
create function pgjobs._shown_kin(task_ids bigint[], of_task bigint, before boolean)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_rooms text[] := pgjobs._rooms();
  v_seen bigint[] := case when v_rooms is null then _shown_kin.task_ids else array(
    select t.id
    from unnest(_shown_kin.task_ids) with ordinality as i (id, place)
    join pgjobs.tasks as t on t.id = i.id and t.room = any (v_rooms)
    order by i.place
  ) end;
begin
  return (
    select jsonb_build_object('total', cardinality(v_seen), 'items', coalesce(jsonb_agg(jsonb_build_object(
      'id', pgjobs.task_uuid(i.id), 'number', i.id, 'name', d.name, 'kind', d.kind, 'on_failure', d.on_failure,
      'job', v.job, 'status', coalesce(v.status, 'removed'), 'phase', v.phase,
      'created_at', pgjobs._known_moment(v.created_at), 'started_at', pgjobs._known_moment(v.started_at),
      'ended_at', pgjobs._known_moment(v.ended_at)
    ) order by i.place), '[]'))
    from unnest(v_seen[1:100]) with ordinality as i (id, place)
    join pgjobs.dependencies as d
      on d.task_id = case when _shown_kin.before then _shown_kin.of_task else i.id end
      and d.after_id = case when _shown_kin.before then i.id else _shown_kin.of_task end
    left join pgjobs.task as v on v.id = i.id
  );
end
$$;

comment on function pgjobs._shown_kin is
  'Tasks that another has to do with. Example: select pgjobs._shown_kin(array[17, 18], 42, true)';
