-- Refuses a :category, a :schema or a :worker_id that nothing can be registered with.
select refuse('invalid-category', 'A category has 1 to 200 characters and no colon')
where :category = '' or instr(:category, ':') > 0 or length(:category) > 200;
select refuse('validation-error', 'A schema has at most 65536 bytes and 32 levels')
where is_json_over(:schema, 65536) or json_depth(:schema) > 32;
select refuse('worker-not-found', 'Worker ' || :worker_id || ' does not exist')
where :worker_id is not null and not exists (
  select 1 from workers as w where w.id = :worker_id and w.owner is coalesce(:actor, w.owner)
);
