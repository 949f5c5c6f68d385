-- Removes :v_pruned with their attempts.
delete from attempts
where task_id in (select json_extract(p.value, '$[0]') from json_each(:v_pruned) as p);
delete from tasks
where id in (select json_extract(p.value, '$[0]') from json_each(:v_pruned) as p);
