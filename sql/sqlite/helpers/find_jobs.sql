-- Finds the jobs at :v_addresses, as :v_jobs_found; refuses what does not exist.
select json_group_array(coalesce(
  case
    when matches(a.value, '[0-9]{1,9}') then (
      select j.id from jobs as j where j.id = cast(a.value as integer)
    )
    when matches(a.value, '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}') then (
      select j.id from jobs as j where j.uuid = lower(a.value)
    )
    when matches(a.value, '[^:]+:[^:]+:.+') then (
      select j.id from jobs as j where j.full_name = a.value
    )
    else refuse('job-not-found', 'Invalid job name format: ' || a.value, null, 'Write room:category:name.')
  end,
  refuse('job-not-found', 'Job ' || a.value || ' does not exist')
)) as v_jobs_found
from json_each(:v_addresses) as a;
