insert into floor_queue (payload)
select p.payload
from unnest(array_fill(
  '{"n": 1, "text": "some payload of about one hundred bytes, which is what most people send, more or less"}'::jsonb,
  array[:batch::int]
)) as p (payload);
