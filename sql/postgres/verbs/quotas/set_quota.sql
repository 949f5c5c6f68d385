-- Sets what an owner may have in a room: tasks that wait, submits in any minute, tasks that run.
-- Without an owner it is for each owner by itself (those tasks that have none count together),
-- without a room for every room by itself. Of several that fit the one that says most decides:
-- of room and owner, of the owner, of the room, of all. An option that is left out stays as it
-- is; 0 lifts it. What waits and runs already counts.
--
-- Submits beyond it are refused with PJ025, quota-exceeded; running tasks beyond it are not claimed.
create function pgjobs.set_quota(
  room text default null,
  owner text default null,
  max_waiting integer default null,
  per_minute integer default null,
  max_running integer default null,
  actor text default null,
  reason text default null
)
returns setof pgjobs.quotas
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs._now();
  v_room text := coalesce(set_quota.room, '');
  v_owner text := coalesce(set_quota.owner, '');
  v_quota pgjobs.quotas;
begin
  if v_room <> '' then
    perform pgjobs._check_room(set_quota.room);
  end if;
  perform pgjobs._check_labels(null, set_quota.owner, null, null);
  if least(set_quota.max_waiting, set_quota.per_minute, set_quota.max_running) < 0
    or greatest(set_quota.max_waiting, set_quota.per_minute, set_quota.max_running) > 10000000
  then
    perform pgjobs._refuse('validation-error', 'A quota must be between 1 and 10000000',
      format('Got %s.', concat_ws(', ', set_quota.max_waiting, set_quota.per_minute, set_quota.max_running)), 'With 0 there is none.');
  end if;
  insert into pgjobs.quotas as q (room, owner, max_waiting, per_minute, max_running, since)
  values (
    v_room, v_owner, nullif(set_quota.max_waiting, 0), nullif(set_quota.per_minute, 0), nullif(set_quota.max_running, 0), v_now
  )
  on conflict (room, owner) do update
  set
    max_waiting = nullif(coalesce(set_quota.max_waiting, q.max_waiting), 0),
    per_minute = nullif(coalesce(set_quota.per_minute, q.per_minute), 0),
    max_running = nullif(coalesce(set_quota.max_running, q.max_running), 0),
    since = v_now
  returning q.* into v_quota;
  if num_nonnulls(v_quota.max_waiting, v_quota.per_minute, v_quota.max_running) = 0 then
    delete from pgjobs.quotas as q where q.room = v_room and q.owner = v_owner;
  else
    perform pgjobs._count_for_quota(v_room, v_owner);
  end if;
  perform pgjobs._mark_metered();
  perform pgjobs._count_unlimited();
  insert into pgjobs.events (at, kind, room, actor, message, fields)
  values (
    v_now, 'quota_set', nullif(v_room, ''), set_quota.actor, pgjobs._redact_line(set_quota.reason),
    jsonb_strip_nulls(jsonb_build_object(
      'owner', nullif(v_owner, ''), 'max_waiting', set_quota.max_waiting, 'per_minute', set_quota.per_minute,
      'max_running', set_quota.max_running
    ))
  );
  return next v_quota;
end
$$;

comment on function pgjobs.set_quota is
  'Sets what an owner may have in a room. Example: select * from pgjobs.set_quota(''lab-7'', ''ada'', max_waiting => 1000, per_minute => 100)';
