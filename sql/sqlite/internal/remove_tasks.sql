-- Removes :v_pruned with their attempts, and the events of clean-up tasks.
delete from events
where task_id in (
  select t.id
  from json_each(:v_pruned) as p
  cross join tasks as t on t.id = json_extract(p.value, '$[0]')
  cross join jobs as j on j.id = t.job_id and j.full_name = '@internal:maintenance:incomplete-cleanup'
);
delete from run_targets
where task_id in (select json_extract(p.value, '$[0]') from json_each(:v_pruned) as p);
delete from attempts
where task_id in (select json_extract(p.value, '$[0]') from json_each(:v_pruned) as p);
delete from tasks
where id in (select json_extract(p.value, '$[0]') from json_each(:v_pruned) as p);
