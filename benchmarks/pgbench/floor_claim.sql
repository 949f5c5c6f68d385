update floor_queue
set is_claimed = true
where id = any(array(
  select id from floor_queue where not is_claimed order by id limit :batch for update skip locked
))
returning id, payload;
