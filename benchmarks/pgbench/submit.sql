select count(*)
from pgjobs.submit_tasks(
  '1',
  array_fill(
    '{"n": 1, "text": "some payload of about one hundred bytes, which is what most people send, more or less"}'::jsonb,
    array[:batch::int]
  )
);
