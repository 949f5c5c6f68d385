-- Finds the newest tasks that fit the filters as :v_found, at most :v_wanted.
select refuse('validation-error', 'Unknown status ' || quote(:status))
where :status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored');
select :job as v_address, :room as v_room;
-- include check_room
-- include find_job
select json_group_array(f.id) as v_found
from (
  select v.id
  from task as v
  where (:room is null or v.room = :room)
    and (:v_job is null or v.job_id = :v_job)
    and (:status is null or v.status = :status)
    and (:owner is null or v.owner = :owner)
    and (:since is null or v.created_at >= :since)
    and (:until is null or v.created_at < :until)
    and (:v_before is null or v.id < :v_before)
    and (
      :matching is null
      or substr(v.uuid, -length(:matching)) = lower(:matching)
      or instr(
        lower(
          v.job || ' ' || coalesce(v.idempotency_key, '') || ' ' || coalesce(v.owner, '') || ' '
          || coalesce(v.project, '') || ' ' || coalesce(v.submitter, '') || ' ' || coalesce(v.tags, '') || ' '
          || coalesce(v.error, '') || ' ' || coalesce(v.reason, '')
        ),
        lower(:matching)
      ) > 0
    )
  order by v.id desc
  limit :v_wanted
) as f;
