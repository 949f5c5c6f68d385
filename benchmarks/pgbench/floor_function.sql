select floor_submit(
  '{"n": 1, "text": "some payload of about one hundred bytes, which is what most people send, more or less"}'::jsonb
);
